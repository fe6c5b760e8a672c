/** Tests on the flips of pass-or-fail pairs: McNemar's exact test, and Tango's test of a margin. */

import { requireCount, requireLevel } from "./_checks.ts";
import { binomialTail } from "./binomial.ts";
import { normalQuantile } from "./normal-quantile.ts";

/**
 * McNemar's two-sided exact p-value, min(1, 2 P(X <= min(gained, lost))) with X ~ Bin(gained + lost, 1/2).
 * Pairs that agree carry no evidence; with no others the answer is 1.
 * @example
 * ```ts
 * import { mcnemarExact } from "lockedroom";
 * console.log(mcnemarExact(12, 3)); // 12 rows gained, 3 lost: p is about 0.035
 * ```
 */
export function mcnemarExact(gained: number, lost: number): number {
  requireCount("gained", gained);
  requireCount("lost", lost);
  return Math.min(1, 2 * binomialTail(Math.min(gained, lost), gained + lost));
}

/** The least number of flips, all in one direction, whose exact p-value is at most `alpha`. */
export function smallestSignificantFlips(alpha: number): number {
  requireLevel("alpha", alpha);
  let flips = 1;
  while (mcnemarExact(flips, 0) > alpha) flips++;
  return flips;
}

/**
 * Tango's score test (1998) of "the paired difference is at least `margin`": with b gained, c lost
 * of n, T = (b - c - n d) / sqrt(n (2 q + d (1 - d))), where q is the constrained estimate of the
 * chance of a loss at difference d. It keeps its level where few pairs flip, unlike a bootstrap.
 */
export function marginRuledOut(
  gained: number,
  lost: number,
  n: number,
  margin: number,
  alpha: number,
): boolean {
  for (const [name, value] of Object.entries({ gained, lost, n })) requireCount(name, value);
  if (margin > 1) return n > 0;
  return marginStatistic(gained, lost, n, margin) <= -normalQuantile(1 - alpha / 2);
}

/** T of `marginRuledOut`; 0 where nothing can vary. */
export function marginStatistic(gained: number, lost: number, n: number, margin: number): number {
  const a = 2 * n;
  const b = -gained - lost + (2 * n - gained + lost) * margin;
  const c = -lost * margin * (1 - margin);
  const q = (Math.sqrt(b * b - 4 * a * c) - b) / (2 * a);
  const spread = n * (2 * q + margin * (1 - margin));
  return spread > 0 ? (gained - lost - n * margin) / Math.sqrt(spread) : 0;
}
