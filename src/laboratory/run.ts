/** Plays sabotages and their honest twins, and compares what caught them with the catalogue. */

import { LockedRoomError } from "../core/errors.ts";
import {
  SABOTAGE_SCHEMA,
  type SabotageReport,
  type SabotageResult,
} from "../runs/sabotage-report.ts";
import { type Finding, type Outcome, Refusal } from "./finding.ts";
import { Laboratory, type LaboratoryOptions } from "./laboratory.ts";
import { isCatch, nameOf, type Sabotage } from "./sabotage.ts";

export interface SabotageOptions extends LaboratoryOptions {
  readonly sabotages: readonly Sabotage[];
  /** Called after each, with how many are done. */
  readonly onDone?: ((done: number, name: string) => void) | undefined;
}

/**
 * Plays every sabotage and its honest twin on copies, and compares what caught them with the catalogue.
 */
export async function runSabotages(options: SabotageOptions): Promise<SabotageReport> {
  const lab = await Laboratory.open(options);
  const results: SabotageResult[] = [];
  for (const [i, sabotage] of options.sabotages.entries()) {
    results.push(await resultOf(sabotage, lab));
    options.onDone?.(i + 1, sabotage.name);
  }
  const as_expected = results.every((result) => result.as_expected);
  return { schema: SABOTAGE_SCHEMA, results, as_expected };
}

async function resultOf(sabotage: Sabotage, lab: Laboratory): Promise<SabotageResult> {
  const { name, family, trick, honest, caught } = sabotage;
  const cheated = await played(sabotage, lab, true);
  const twin = await played(sabotage, lab, false);
  const catches = (finding: Finding) => caught.check !== "nothing" && isCatch(caught, finding);
  const found = cheated.findings.find(catches) ?? cheated.findings[0] ?? null;
  const refused = twin.findings.some(catches);
  return {
    ...{ name, family, trick, honest },
    expected: nameOf(caught),
    caught: found,
    because: caught.check === "nothing" ? caught.because : null,
    also: [
      ...new Set(cheated.findings.filter((one) => one !== found).map((one) => codeOf(one))),
    ].filter((code) => found === null || code !== codeOf(found)),
    twin: { verdict: twin.verdict, refused },
    as_expected: !refused && isExpected(sabotage, cheated),
  };
}

const codeOf = ({ check, code }: Finding) => `${check}: ${code}`;

/** Where only `verify` can see it, the gate must not have objected: the catalogue says that it cannot. */
function isExpected({ caught }: Sabotage, { findings }: Outcome): boolean {
  if (caught.check === "nothing") return findings.length === 0;
  const earlier = caught.check === "verify" && findings.some(({ check }) => check === "gate");
  return !earlier && findings.some((finding) => isCatch(caught, finding));
}

async function played(sabotage: Sabotage, lab: Laboratory, cheat: boolean): Promise<Outcome> {
  try {
    return await sabotage.play(lab, cheat);
  } catch (error) {
    if (error instanceof Refusal) return { verdict: "refused", findings: [error.finding] };
    if (!(error instanceof LockedRoomError)) throw error;
    throw new LockedRoomError(
      error.kind,
      `the sabotage ${sabotage.name}${cheat ? "" : " (honest twin)"} failed: ${error.message}`,
      { ...(error.hint !== undefined && { hint: error.hint }), cause: error },
    );
  }
}
