/** Runs whose rewards are a judge's: whether one instrument gave them, in the same groups. */

import { fingerprint } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { JUDGEMENTS } from "../runs/artifacts.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { JudgedRun } from "../runs/judge-schemas.ts";
import type { Run } from "../runs/reader.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";

type Judge = JudgedRun["identity"];

/** What another value of a field of the identity means. */
const PARTS: readonly (readonly [keyof Judge, string])[] = [
  ["name", "the model"],
  ["endpoint", "the endpoint"],
  ["version", "the version of the prompt"],
  ["rubric_sha256", "the rubric"],
  ["rubric", "the rubric"],
  ["sampling", "the sampling settings"],
];

const AGAIN =
  "Judge both rollouts together: judge score --trajectories CANDIDATE --against BASELINE.";

/** Empty where neither run was judged, or both were by one judge, in the same groups. */
export function judgeReasons(baseline: Manifest, candidate: Manifest): Reason[] {
  const [before, after] = [baseline.judge, candidate.judge];
  if (!before && !after) return [];
  if (!before || !after) {
    const message = `One run has a judge's scores and the other has not, so that the instruments differ. ${AGAIN}`;
    return [reason("judge_differs", message, named(before), named(after))];
  }
  const differing = differencesOf(before.identity, after.identity);
  if (differing.length > 0) {
    const message = `The judges differ in ${differing.join(", ")}: another judge is another instrument. ${AGAIN}`;
    return [reason("judge_differs", message, named(before), named(after))];
  }
  const forged = [before, after].some(({ identity }) => !isWhole(identity));
  if (forged) {
    const message = "A run's judge does not have the fingerprint that its parts give.";
    return [reason("judge_fingerprint_wrong", message, named(before), named(after))];
  }
  return together(before, after) ? [] : [judgedApart(before, after)];
}

/** The same groups have the same answers, whatever the manifests say. */
export function otherJudgements(baseline: Run, candidate: Run): Reason[] {
  if (!baseline.manifest.judge || !candidate.manifest.judge) return [];
  const [before = null, after = null] = [baseline, candidate].map(
    ({ summary }) => summary.files[JUDGEMENTS],
  );
  if (before === after) return [];
  const message = `The runs have different answers of the judge, so that they were not judged together. ${AGAIN}`;
  return [{ code: "judgements_differ", message, baseline: before, candidate: after }];
}

/**
 * What is compared of a row. An audit says how often a judge orders attempts rightly, and nothing of the
 * distances between its scores: of judged rows it is whether the attempt was preferred to the other run's.
 */
export function comparedValue(
  { reward, passed }: Pick<ResultRow, "reward" | "passed">,
  isJudged: boolean,
): number | null {
  return reward === null || !isJudged ? reward : Number(passed);
}

/** A judge's failure is mended otherwise than a scorer's. */
export const NO_VERDICT =
  "The judge gave no verdict on some tasks, so the rates are not valid. Run judge score again: the answers that it has come from the cache.";

/** The parts in which two judges differ, in words; empty for the same judge. */
export function differencesOf(one: Judge, other: Judge): string[] {
  const words = PARTS.filter(([part]) => !same(one[part], other[part])).map(([, word]) => word);
  if (words.length > 0) return [...new Set(words)];
  return one.fingerprint === other.fingerprint ? [] : ["their fingerprints"];
}

/** Whether the fingerprint is that of everything else. */
function isWhole({ fingerprint: stated, ...rest }: Judge): boolean {
  return fingerprint(rest) === stated;
}

/** Scores are relative within a group: those of different groups say nothing about each other. */
function together({ together: before }: JudgedRun, { together: after }: JudgedRun): boolean {
  if (!before || !after) return false;
  const { side: _before, ...ofBefore } = before;
  const { side: _after, ...ofAfter } = after;
  return same(ofBefore, ofAfter);
}

function judgedApart(before: JudgedRun, after: JudgedRun): Reason {
  const shown = ({ together: of }: JudgedRun) => (of ? ({ ...of } as JsonObject) : null);
  const message = `The runs were not judged together. A judge's scores are relative within a group, so that those of different groups cannot be compared. ${AGAIN}`;
  return reason("judged_apart", message, shown(before), shown(after));
}

function named(judge: JudgedRun | undefined): JsonObject | null {
  if (!judge) return null;
  const { name, version, fingerprint: of } = judge.identity;
  return { name, version, fingerprint: of };
}

function reason(
  code: string,
  message: string,
  baseline: JsonObject | null,
  candidate: JsonObject | null,
): Reason {
  return { code, message, baseline, candidate } as Reason;
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}
