/** What a comparison of this size could have seen. */

import { requireCount, requireLevel, requireShare } from "./_checks.ts";
import { smallestSignificantFlips } from "./mcnemar.ts";
import { normalQuantile } from "./normal-quantile.ts";

/** How the paired differences spread: pass or fail rows by discordance, any others by variance. */
export type Spread =
  /** Share of pairs that flip in either direction. */
  | { readonly discordantShare: number; readonly variance?: never }
  /** Variance of one paired difference. */
  | { readonly variance: number; readonly discordantShare?: never };

export type PowerQuestion = Spread & {
  /** Number of pairs. */
  readonly n: number;
  /** Two-sided level of the test. */
  readonly alpha: number;
  /** Chance of seeing the effect when it is there. */
  readonly power?: number;
};

/**
 * The smallest mean difference found with the wanted power,
 * (z_{1 - alpha/2} + z_power) sqrt(variance / n). Pass-or-fail differences are -1, 0 or 1, so with
 * no effect their variance is the discordant share; and no exact test rejects on fewer than
 * `smallestSignificantFlips` flips, however rarely pairs disagree. Undefined without pairs; above
 * 1 for pass or fail, no effect at all would be found.
 */
export function minimumDetectableEffect(question: PowerQuestion): number | undefined {
  const { n, alpha, power = 0.8 } = question;
  requireCount("n", n);
  requireLevel("alpha", alpha);
  requireLevel("power", power);
  const variance = varianceOf(question);
  if (n === 0) return undefined;
  const z = normalQuantile(1 - alpha / 2) + normalQuantile(power);
  const effect = Math.max(0, z) * Math.sqrt(variance / n);
  const isBinary = question.discordantShare !== undefined;
  return isBinary ? Math.max(effect, smallestSignificantFlips(alpha) / n) : effect;
}

function varianceOf({ discordantShare, variance }: Spread): number {
  if (discordantShare !== undefined) {
    requireShare("discordantShare", discordantShare);
    return discordantShare;
  }
  if (!(variance >= 0 && variance < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`variance must be a number from 0 up, found ${variance}`);
  }
  return variance;
}
