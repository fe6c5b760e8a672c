/**
 * Is a mean loss ruled out, for changes of any distribution on a known range? The test holds for every
 * number of independent units, without a normal approximation: it bets against the loss (Waudby-Smith
 * and Ramdas 2024). A capital of 1 is multiplied by 1 + λ (change + margin) for each unit. If the mean
 * loss is the margin or more, no bet has a gain on average, so the capital reaches 1 / level with a
 * probability of at most the level (Markov). The average of several fixed bets is such a capital too.
 */

import { requireCount, requireLevel } from "./_checks.ts";

/** A unit, such as a pair or a cluster of them, and how many are like it. */
export interface BoundedUnit {
  /** Between -range · weight and range · weight. */
  readonly change: number;
  /** At most 1: its rows as a share of those of the largest unit. */
  readonly weight: number;
  readonly count: number;
}

export interface BoundedMeanQuestion {
  readonly units: readonly BoundedUnit[];
  /** The largest possible change of a unit of weight 1. */
  readonly range: number;
  readonly margin: number;
  /** Two-sided, as everywhere: the test is wrong with a probability of at most half of it. */
  readonly alpha: number;
  /** Answer for so many units that are distributed like these. */
  readonly size?: number | undefined;
}

/** Whether a mean change of -`margin`, weighted by the units' weights, or an even lower one is ruled out. */
export function meanLossRuledOut(question: BoundedMeanQuestion): boolean {
  const { units, range, margin, alpha } = question;
  requireLevel("alpha", alpha);
  const seen = units.reduce((sum, { count }) => sum + count, 0);
  const size = question.size ?? seen;
  requireCount("size", size);
  if (seen === 0 || size === 0 || !(margin > 0) || !(range > 0)) return false;
  if (margin >= range)
    return margin > range || units.some(({ change, weight }) => change > -range * weight);
  const bets = betsFor(size);
  const logs = bets.map((bet) => (size / seen) * logCapital(units, bet / (range - margin), margin));
  const largest = Math.max(...logs);
  if (largest === Number.NEGATIVE_INFINITY) return false;
  const scaled = logs.reduce((sum, log) => sum + Math.exp(log - largest), 0);
  return largest + Math.log(scaled / bets.length) >= Math.log(2 / alpha);
}

function logCapital(units: readonly BoundedUnit[], lambda: number, margin: number): number {
  let sum = 0;
  for (const { change, weight, count } of units)
    sum += count * Math.log(Math.max(0, 1 + lambda * (change + margin * weight)));
  return sum;
}

/**
 * Shares of the largest bet, at which one unit that loses everything takes all of the capital. High ones
 * are best where few units change. Low ones are best where many do, and need many units to decide, so
 * their number grows with the units. The bets may depend on nothing that the rewards show.
 */
function betsFor(size: number): number[] {
  const low = Math.ceil(Math.log2(Math.max(1, size / 150)));
  return [1, 0.875, 0.625, ...Array.from({ length: low }, (_, i) => 0.4 / 2 ** i)];
}
