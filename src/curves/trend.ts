/** Tests for a change, cheap enough to run after every step. */

import type { EvaluationRecord } from "../runs/train-records.ts";
import { DifferenceCounts, sumOf } from "../stats/difference-counts.ts";

/**
 * The z of Mann (1945) and Kendall: pairs in rising order less pairs in falling order, over its standard
 * deviation with ties counted. It measures monotony, not size, so a single outlier has little weight.
 */
export function trend(series: readonly number[]): number {
  const values = inBlocks(series, 200);
  const n = values.length;
  let s = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) s += Math.sign((values[j] as number) - (values[i] as number));
  }
  const pairsOf = (count: number) => count * (count - 1) * (2 * count + 5);
  const ties = new Map<number, number>();
  for (const value of values) ties.set(value, (ties.get(value) ?? 0) + 1);
  const tied = [...ties.values()].reduce((sum, count) => sum + pairsOf(count), 0);
  const variance = (pairsOf(n) - tied) / 18;
  // The 1 is the continuity correction: s goes in steps of 2.
  return variance > 0 ? (Math.sign(s) * Math.max(0, Math.abs(s) - 1)) / Math.sqrt(variance) : 0;
}

/** Means of neighbours where there are more than `most` numbers, since the cost is quadratic. */
function inBlocks(values: readonly number[], most: number): readonly number[] {
  const size = Math.ceil(values.length / most);
  if (size <= 1) return values;
  const blocks = Math.floor(values.length / size);
  return Array.from({ length: blocks }, (_, i) => mean(values.slice(i * size, (i + 1) * size)));
}

/**
 * The standard deviation of fluctuations in a series, from the median step between neighbours (0.954
 * for a normal distribution), which is robust against a trend and a single jump. 0 for fewer than
 * eight numbers.
 */
export function jitter(values: readonly number[]): number {
  if (values.length < 8) return 0;
  const steps = values.slice(1).map((value, i) => Math.abs(value - (values[i] as number)));
  return (steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] as number) / 0.954;
}

export interface PairedShift {
  /** Examples that were scored in every evaluation. */
  readonly examples: number;
  /** Mean change of the reward of an example. */
  readonly mean: number;
  /** Standard error of the mean. */
  readonly error: number;
  /**
   * The sum of the differences over the root of their sum of squares: the sign-flip test of stats by
   * its normal approximation, because corrected levels are below what resampling can reach.
   */
  readonly z: number;
}

/** Paired by example: the mean reward over some evaluations minus that over earlier ones. */
export function pairedShift(
  before: readonly EvaluationRecord[],
  after: readonly EvaluationRecord[],
): PairedShift | undefined {
  const records = [...before, ...after];
  const length = records[0]?.rewards.length ?? 0;
  if (before.length === 0 || after.length === 0) return undefined;
  // Different examples: the rewards cannot be paired.
  if (records.some(({ rewards }) => rewards.length !== length)) return undefined;
  const differences = new DifferenceCounts();
  for (let i = 0; i < length; i++) {
    const from = rewardAt(before, i);
    const to = rewardAt(after, i);
    if (from !== null && to !== null) differences.add(to - from);
  }
  const { pairs } = differences;
  const average = differences.mean();
  const variance = differences.variance();
  if (average === undefined || variance === undefined) return undefined;
  const squares = sumOf(differences.histogram(), (value) => value * value);
  return {
    examples: pairs,
    mean: average,
    error: Math.sqrt(variance / pairs),
    z: squares > 0 ? (average * pairs) / Math.sqrt(squares) : 0,
  };
}

/** Null when the example was not scored in one of the evaluations. */
function rewardAt(evaluations: readonly EvaluationRecord[], example: number): number | null {
  let sum = 0;
  for (const { rewards } of evaluations) {
    const reward = rewards[example] ?? null;
    if (reward === null) return null;
    sum += reward;
  }
  return sum / evaluations.length;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
