/** The versions of a workspace's scorer: shipped, weakened on purpose, restored. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { canonicalJson, rngAt } from "../core/index.ts";
import { type ValidationReport, validationReportSchema } from "../runs/index.ts";
import { type CheckContext, CheckFailure, ensure } from "./check-context.ts";
import { CORRECT, DEV, EXPLOITS, FROZEN, jsonLines, savedJson } from "./evidence.ts";
import { fileAt, hiddenSeed, type LearnerFile } from "./learner-code.ts";
import { TEMPLATES } from "./workspace.ts";

export const SCORER = "scoring.ts";

/** One version, in a folder where it can be run. */
export interface ScorerVersion {
  readonly file: LearnerFile;
  readonly text: string;
  readonly commit: string;
}

export async function scorerAt(context: CheckContext, commit: string): Promise<ScorerVersion> {
  const file = await fileAt(context, commit, SCORER);
  const text = await readFile(file.path, "utf8").catch(() => undefined);
  if (text !== undefined) return { file, text, commit };
  throw new CheckFailure({
    expected: `${SCORER} in commit ${commit.slice(0, 7)}`,
    found: "no such file",
    where: `git show --stat ${commit.slice(0, 7)}`,
  });
}

/** The version of the first commit, which must be the shipped one. */
export async function shippedScorer(context: CheckContext): Promise<ScorerVersion> {
  const first = await scorerAt(context, context.commits[0]?.hash ?? "");
  const template = await readFile(path.join(TEMPLATES, SCORER), "utf8");
  ensure(first.text === template, {
    expected: `${SCORER} of the first commit as it was shipped`,
    found: "other content",
    where: `git show ${first.commit.slice(0, 7)}:${SCORER}`,
  });
  return first;
}

/** A committed version with false positives: the one with this source if there is one, else the first. */
export async function weakenedScorer(context: CheckContext, golden: string, source?: string) {
  const weak: ScorerVersion[] = [];
  for (const { commit } of (await context.versions(SCORER)).slice(1)) {
    const version = await scorerAt(context, commit.hash);
    const report = await validation(context, golden, version).catch(() => undefined);
    if ((report?.counts.false_positive ?? 0) === 0) continue;
    if (report?.scorer.source_sha256 === source) return version;
    weak.push(version);
  }
  const [first] = weak;
  if (first) return first;
  throw new CheckFailure({
    expected: `a committed version of ${SCORER} that accepts exploits`,
    found: "none",
    where: `git log --oneline -- ${SCORER}`,
    next: `Weaken one rule of ${SCORER} and commit it as "L4 sabotage".`,
  });
}

/** The validate-scorer report on a version; computed once. */
export function validation(context: CheckContext, golden: string, { file }: ScorerVersion) {
  return context.once(`validation ${golden} ${file.path}`, async () => {
    await context.read(golden);
    const report = `${context.scratch()}.json`;
    const files = ["--dataset", DEV, "--golden", golden, "--scorer", file.path, "--report", report];
    const { stderr, stopped } = await context.command("validate-scorer", "--quiet", ...files);
    const text = await readFile(report, "utf8").catch(() => undefined);
    ensure(text !== undefined, {
      expected: `${golden} to be scored`,
      found: stopped ?? stderr.trim().split("\n").slice(0, 2).join(" "),
      where: golden,
    });
    return validationReportSchema.parse(JSON.parse(text));
  });
}

/** A saved report agrees with what the command reports on that version. */
export async function checkReport(
  context: CheckContext,
  file: string,
  golden: string,
  version: ScorerVersion,
): Promise<ValidationReport> {
  const saved = await savedJson(context, file, validationReportSchema);
  const now = await validation(context, golden, version);
  const comparable = ({ probes: _, ...rest }: ValidationReport) => canonicalJson(rest);
  ensure(comparable(saved) === comparable(now), {
    expected: `what validate-scorer reports on ${golden} with ${SCORER} of commit ${version.commit.slice(0, 7)}: ${summary(now)}`,
    found:
      saved.scorer.source_sha256 === now.scorer.source_sha256
        ? summary(saved)
        : `a report on another version of ${SCORER}`,
    where: file,
  });
  return now;
}

function summary({ counts }: ValidationReport): string {
  return `${counts.agrees} agree, ${counts.false_positive} false positives, ${counts.false_negative} false negatives`;
}

export async function versionOfScorer({ file }: ScorerVersion): Promise<string> {
  return String(await file.exported("SCORER_VERSION"));
}

/** The first input on which two versions give another reward or code. */
export async function behaviourDiffers(context: CheckContext, a: ScorerVersion, b: ScorerVersion) {
  const inputs = await probeInputs(context);
  const [one, two] = await Promise.all([a, b].map(({ file }) => file.call("score", inputs)));
  const outcome = (value: unknown) => {
    const { reward, code } = (value ?? {}) as { reward?: unknown; code?: unknown };
    return JSON.stringify([reward, code]);
  };
  const at = inputs.findIndex((_, i) => outcome(one?.[i]) !== outcome(two?.[i]));
  if (at < 0) return undefined;
  return `${JSON.stringify(inputs[at]?.[1])} gives ${outcome(one?.[at])}, then ${outcome(two?.[at])}`;
}

/** Every completion in data/, and hidden variations of answers that are almost in the format. */
async function probeInputs(context: CheckContext): Promise<[object, string][]> {
  const examples = new Map(
    (await jsonLines<{ id: string; expected_answer: number }>(context, DEV)).map((row) => [
      row.id,
      row,
    ]),
  );
  const answers = await Promise.all(
    [FROZEN, CORRECT, EXPLOITS].map((file) =>
      jsonLines<{ id: string; completion: string }>(context, file),
    ),
  );
  const rng = rngAt(hiddenSeed(context, "4"));
  const pick = <T>(items: readonly T[]) => items[rng.below(items.length)] as T;
  const varied = [...examples.values()].flatMap((example): [object, string][] =>
    Array.from({ length: 8 }, () => {
      const leads = ["", " ", "\n", "\t", "So: "];
      const zeros = "0".repeat(pick([0, 0, 1, 2, 3, 5]));
      const number = pick(["", "+", "-"]) + zeros + String(Math.abs(example.expected_answer));
      const end = pick(["", "", " ", "\n", ".", " done", "\nFinal: 1"]);
      return [
        example,
        `${pick(leads)}${pick(["Final:", "final:", "Final"])}${pick([" ", " ", "", "\t", "\n", " ".repeat(1 + rng.below(7))])}${number}${end}`,
      ];
    }),
  );
  const known = answers
    .flat()
    .map(({ id, completion }): [object, string] => [examples.get(id) ?? { id }, completion]);
  return [...known, ...varied];
}
