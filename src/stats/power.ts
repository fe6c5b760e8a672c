/** Power of a paired comparison: the minimum detectable effect, and the sample size for an effect. */

import { requireCount, requireLevel, requireShare } from "./_checks.ts";
import { logBinomialPmf } from "./binomial.ts";
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
  /** Probability of detecting the effect when it exists. */
  readonly power?: number;
};

/**
 * The smallest mean difference detected with the given power,
 * (z_{1 - alpha/2} + z_power) sqrt(variance / n). Pass-or-fail differences are -1, 0 or 1, so with
 * no effect their variance is the discordant share; and the exact test needs a least number of
 * flips, so the effect must also bring that many about. Undefined when no effect could be found:
 * without pairs, with too few for the test, or when nothing is known of the spread.
 * @example
 * ```ts
 * import { minimumDetectableEffect } from "lockedroom";
 * console.log(minimumDetectableEffect({ n: 200, alpha: 0.05, discordantShare: 0.2 }));
 * ```
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
  if (question.discordantShare === undefined) return variance > 0 ? effect : undefined;
  const least = effectOfFlips(n, smallestSignificantFlips(alpha), power);
  const needed = least === undefined ? Number.POSITIVE_INFINITY : Math.max(effect, least);
  return needed <= 1 ? needed : undefined;
}

/** More pairs than this are not suggested. */
export const MAX_PAIRS = 1e9;

/**
 * The smallest number of pairs that detects an effect of this size with the given power, if
 * further pairs vary as these do. Undefined when a thousand million are not enough.
 */
export function pairsForEffect(
  question: Omit<PowerQuestion, "n"> & Spread & { readonly effect: number },
): number | undefined {
  // More pairs never need a larger effect, so bisection finds the smallest number.
  const enough = (n: number) => {
    const needed = minimumDetectableEffect({ ...question, n });
    return needed !== undefined && needed <= question.effect;
  };
  let [few, many] = [0, 1];
  while (!enough(many)) {
    if (many >= MAX_PAIRS) return undefined;
    [few, many] = [many, Math.min(2 * many, MAX_PAIRS)];
  }
  while (many - few > 1) {
    const middle = Math.floor((few + many) / 2);
    if (enough(middle)) many = middle;
    else few = middle;
  }
  return many;
}

/** The share of gains, none lost, that brings about `flips` of `n` with the given power. */
function effectOfFlips(n: number, flips: number, power: number): number | undefined {
  if (flips > n) return undefined;
  const reached = (share: number) => {
    let fewer = 0;
    for (let k = 0; k < flips; k++) fewer += Math.exp(logBinomialPmf(k, n, share));
    return 1 - fewer >= power;
  };
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (reached(middle)) high = middle;
    else low = middle;
  }
  return high;
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
