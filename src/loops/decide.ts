/**
 * Decision rules over scored samples. Each picks the same sample in whatever order they come:
 * ties are broken by a sample's text or by its index in the pack.
 */

import type { Json } from "../core/json.ts";

/**
 * A sample with the scorer's answer; `index` is its place in the pack, in sampling order.
 * @see {@link pickBest}
 */
export interface ScoredSample {
  readonly index: number;
  readonly completion: string;
  readonly sum_logprob: number | null;
  readonly sum_ref_logprob?: number | null;
  /** Null on a scorer error. */
  readonly reward: number | null;
  readonly code: string;
  readonly details: Json;
  /** Of an episode: whether its environment calls the task solved. */
  readonly passed?: boolean | undefined;
}

/** Compared member by member: numbers by size, texts by code point; the smallest key wins. */
export type TieBreakKey = readonly (number | string)[];

/** What a key may look at: the sample, not its reward. */
export type KeyedSample = Pick<ScoredSample, "completion" | "sum_logprob">;

/** Higher log-probability first, samples without one last; then shorter; then by code point. */
export function tieBreakKey({ completion, sum_logprob: logprob }: KeyedSample): TieBreakKey {
  return [logprob === null ? 1 : 0, logprob === null ? 0 : -logprob, completion.length, completion];
}

/**
 * The highest reward; among equals the smallest key; among equal keys the lowest index.
 * @example
 * ```ts
 * import { pickBest, type ScoredSample } from "lockedroom";
 * const sample = (index: number, reward: number): ScoredSample => ({
 *   index,
 *   reward,
 *   completion: `sample ${index}`,
 *   sum_logprob: null,
 *   code: "given",
 *   details: {},
 * });
 * console.log(pickBest([sample(0, 0), sample(1, 1)])?.index); // 1
 * ```
 */
export function pickBest<S extends ScoredSample>(
  samples: readonly S[],
  keyOf: (sample: S) => TieBreakKey = tieBreakKey,
): S | undefined {
  const highest = samples.reduce(
    (most, sample) => Math.max(most, rewardOf(sample)),
    Number.NEGATIVE_INFINITY,
  );
  return earliest(
    samples.filter((sample) => rewardOf(sample) === highest),
    keyOf,
  );
}

/** The answer that most samples give, by what the verifier parsed; rewards are not looked at. */
export function majorityVote<S extends ScoredSample>(samples: readonly S[]): S | undefined {
  const votes = new Map<string, S[]>();
  for (const sample of samples) {
    const answer = parsedAnswer(sample);
    if (answer === undefined) continue;
    votes.set(answer, [...(votes.get(answer) ?? []), sample]);
  }
  const most = Math.max(0, ...[...votes.values()].map((voters) => voters.length));
  const leaders = [...votes.values()].filter((voters) => voters.length === most).flat();
  return earliest(leaders.length > 0 ? leaders : samples, tieBreakKey);
}

/** The earliest sample that the verifier could parse, right or wrong; else the earliest. */
export function firstValid<S extends ScoredSample>(samples: readonly S[]): S | undefined {
  const inOrder = samples.toSorted((a, b) => a.index - b.index);
  return inOrder.find((sample) => parsedAnswer(sample) !== undefined) ?? inOrder[0];
}

export const RULES = { best: pickBest, majority: majorityVote, "first-valid": firstValid } as const;
export type RuleName = keyof typeof RULES;

/** Negative when `a` comes first. */
function compareKeys(a: TieBreakKey, b: TieBreakKey): number {
  for (let i = 0; i < a.length; i++) {
    const [left, right] = [a[i], b[i]];
    if (left === right) continue;
    if (right === undefined) return 1;
    if (typeof left === "string" && typeof right === "string")
      return compareCodePoints(left, right);
    return Number(left) - Number(right);
  }
  return a.length - b.length;
}

/** JavaScript orders by UTF-16 units, which puts U+FF21 after U+1F600; code points do not. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    return (a.codePointAt(i) as number) - (b.codePointAt(i) as number);
  }
  return a.length - b.length;
}

/** The sample with the smallest key; among equal keys the lowest index. */
function earliest<S extends ScoredSample>(
  samples: readonly S[],
  keyOf: (sample: S) => TieBreakKey,
): S | undefined {
  const keyed = samples.map((sample) => ({ sample, key: keyOf(sample) }));
  return keyed.reduce<(typeof keyed)[number] | undefined>((best, next) => {
    const comesFirst =
      !best || (compareKeys(next.key, best.key) || next.sample.index - best.sample.index) < 0;
    return comesFirst ? next : best;
  }, undefined)?.sample;
}

/** The answer that the verifier parsed, if it gives one. */
export function parsedAnswer({ details }: ScoredSample): string | undefined {
  const parsed = (details as { parsed?: unknown } | null)?.parsed;
  return parsed === undefined ? undefined : String(parsed);
}

function rewardOf({ reward }: ScoredSample): number {
  return reward ?? Number.NEGATIVE_INFINITY;
}
