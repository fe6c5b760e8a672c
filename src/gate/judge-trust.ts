/** Whether a judge's scores may decide: only of a judge that an audit acquitted. */

import { usageError } from "../core/errors.ts";
import { judgeFlag } from "../core/judge-flag.ts";
import { visible } from "../core/visible.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { JsonlFile } from "../runs/jsonl.ts";
import type { JudgeAudit, JudgeAuditManifest } from "../runs/judge-audit-schema.ts";
import type { JudgedRun } from "../runs/judge-schemas.ts";
import type { Manifest } from "../runs/schemas.ts";
import type { Decided } from "./decide.ts";
import { differencesOf } from "./judged.ts";

/** The judge of both runs, and what is known of it. */
export interface JudgeTrust {
  readonly identity: JudgedRun["identity"];
  /** Where the audit lies, and what it found. */
  readonly audit:
    | {
        readonly run: string;
        readonly found: JudgeAudit;
        /** The embedded data of the audit; undefined for a file of somebody's own. */
        readonly source: string | undefined;
        readonly settings: JudgeAuditManifest["settings"];
      }
    | undefined;
  /** Why the scores may not decide; undefined where they may. */
  readonly why: string | undefined;
}

/** Undefined for runs without a judge. */
export async function judgeTrust(
  { judge }: Pick<Manifest, "judge">,
  folder: string | undefined,
): Promise<JudgeTrust | undefined> {
  if (!judge) {
    if (folder === undefined) return undefined;
    throw usageError(
      "--judge-audit is for runs that a judge scored",
      "Leave it out, or name runs of judge score --against.",
    );
  }
  const { identity } = judge;
  if (folder === undefined) return { identity, audit: undefined, why: "no audit of it was given" };
  // Loaded lazily: most gates are about scored rows.
  const { openJudgeAudit, whyNotTrusted } = await import("../runs/read-judge-audit.ts");
  const { whyNotMadeAgain } = await import("../audit/made-again.ts");
  const { audit: found, manifest, judgements } = await openJudgeAudit(folder);
  const source = manifest.inputs.length === 0 ? manifest.data.source : undefined;
  const differing = differencesOf(found.judge, identity);
  const other = differing.length > 0 && `it is about another judge: ${differing.join(", ")} differ`;
  const doubt =
    other ||
    whyNotMadeAgain({ audit: found, manifest, judgements: await linesOf(judgements()) }) ||
    whyNotTrusted(found, identity);
  const why = doubt && `the audit in ${visible(folder)} does not count: ${doubt}`;
  return { identity, audit: { run: folder, found, source, settings: manifest.settings }, why };
}

async function linesOf<T>(file: JsonlFile<T>): Promise<T[]> {
  const lines: T[] = [];
  for await (const batch of file.batches()) lines.push(...batch);
  return lines;
}

/** What would promote is inconclusive as long as nobody knows what the judge is worth. */
export function requireTrust<D extends Decided>(decided: D, trust: JudgeTrust | undefined): D {
  const isGood = decided.decision === "PROMOTE" || decided.decision === "PASS";
  if (!isGood || trust?.why === undefined) return decided;
  const said = decided.reasons.map(({ message }) => message).join(" ");
  const message = `${said} But these are scores of the judge ${visible(trust.identity.name)}, and ${trust.why}. Audit it, with the same rubric and judge options: judge-audit --judge ${visible(judgeFlag(trust.identity))} --outdir AUDIT. Then give --judge-audit AUDIT.`;
  const code = trust.audit ? "judge_not_trusted" : "judge_not_audited";
  return {
    ...decided,
    decision: "INCONCLUSIVE",
    reasons: [{ code, message, baseline: null, candidate: null }],
  };
}

/** What the report says of the judge. */
export function reportedJudge(trust: JudgeTrust | undefined): GateReport["judge"] {
  if (!trust) return undefined;
  const { identity, audit, why } = trust;
  const { name, version, fingerprint } = identity;
  return {
    ...{ name, version, fingerprint },
    audit: audit
      ? {
          run: audit.run,
          trusted: why === undefined,
          accuracy: audit.found.measures.accuracy.value,
        }
      : null,
  };
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

const PASS_RATE =
  "The pass rate is the share of attempts that the judge prefers to those of the other run; a tie passes in neither.";

/** How much of a true difference such a judge shows, and on which tasks that was found. */
export function accuracyNote(
  trust: JudgeTrust | undefined,
  { environment }: Pick<Manifest, "environment">,
): string[] {
  if (!trust) return [];
  return [
    PASS_RATE,
    ...shrinkageNote(trust),
    ...elsewhereNote(trust, environment?.name ?? ""),
    ...chosenNote(trust),
  ];
}

/** Nobody counts how many judgings and audits there were before the one that is shown. */
function chosenNote(trust: JudgeTrust | undefined): string[] {
  const { settings } = trust?.audit ?? {};
  if (!trust || trust.why !== undefined || !settings) return [];
  const { seed: ofJudge } = trust.identity.sampling;
  const chosen = [
    ...(ofJudge === 0 ? [] : [`--judge-seed ${ofJudge}`]),
    ...(settings.seed === 0 ? [] : [`--seed ${settings.seed} of the audit`]),
    ...(settings.limit === null ? [] : [`--limit ${settings.limit} of the audit`]),
  ];
  if (chosen.length === 0) return [];
  return [
    `Not the default: ${chosen.join(", ")}. How many were tried is not recorded, and the error rates hold only for one that was chosen before its result was seen.`,
  ];
}

function elsewhereNote(trust: JudgeTrust | undefined, environment: string): string[] {
  const { source } = trust?.audit ?? {};
  if (trust?.why !== undefined || source === undefined) return [];
  // The tasks of an environment may have a twin with labels.
  if (environment.startsWith(source.split(",")[0] as string)) return [];
  return [
    `The audit is of ${visible(source)}, and these runs are of ${visible(environment)}: a judge that is good at one kind of task may be bad at another.`,
  ];
}

function shrinkageNote(trust: JudgeTrust | undefined): string[] {
  const { value, interval, n } = trust?.audit?.found.measures.accuracy ?? {};
  if (trust?.why !== undefined || typeof value !== "number") return [];
  const range = interval
    ? ` (95 % interval ${percent(interval[0])} to ${percent(interval[1])})`
    : "";
  const shrinkage = 2 * value - 1;
  const words = `The judge orders ${percent(value)} of ${n} labelled pairs as their labels do${range}`;
  if (shrinkage <= 0) return [`${words}, which is no better than chance.`];
  const times = 1 / shrinkage ** 2;
  if (times < 1.005) return [`${words}.`];
  return [
    `${words}, so that a difference of win rates shows as ${shrinkage.toFixed(2)} of its size: it takes about ${times.toFixed(1)} times as many tasks as with a judge that is always right.`,
  ];
}
