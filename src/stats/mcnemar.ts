/** McNemar's exact test on the flips of pass-or-fail pairs. */

import { requireCount, requireLevel } from "./_checks.ts";
import { binomialTail } from "./binomial.ts";

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
