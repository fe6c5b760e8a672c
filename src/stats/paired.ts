/**
 * Bootstrap interval and sign-flip test of a mean paired difference. Both work on the histogram of
 * differences, so that their cost grows with the distinct values, not with the pairs.
 */

import { type Coordinate, rngAt } from "../core/rng.ts";
import { requireLevel } from "./_checks.ts";
import {
  affordable,
  BINOMIAL_COST,
  drawByPair,
  drawByValue,
  drawFlippedSum,
  flipWork,
} from "./_resample.ts";
import { DifferenceCounts, type Histogram, sumOf } from "./difference-counts.ts";
import { quantile } from "./quantile.ts";

export interface ResamplingOptions {
  readonly seed: Coordinate;
  /** Resamples wanted; 10 000 by default. */
  readonly resamples?: number;
}

export interface BootstrapOptions extends ResamplingOptions {
  readonly confidence?: number;
}

export interface BootstrapInterval {
  readonly low: number;
  readonly high: number;
  /** Resamples drawn: fewer than wanted, down to 1000, where the work would pass 5e7 draws. */
  readonly resamples: number;
}

export interface SignFlipResult {
  readonly p: number;
  /** Resamples drawn: fewer than wanted, down to 1000, where the work would pass 5e7 draws. */
  readonly resamples: number;
}

/**
 * Percentile bootstrap interval (Efron 1979) of the mean difference: pairs are drawn again with
 * replacement, and the interval spans the middle `confidence` of the means. Undefined without pairs.
 */
export function pairedBootstrap(
  differences: DifferenceCounts,
  { seed, resamples = 10_000, confidence = 0.95 }: BootstrapOptions,
): BootstrapInterval | undefined {
  requireLevel("confidence", confidence);
  const { pairs } = differences;
  const workByValue = differences.distinct * BINOMIAL_COST;
  const used = affordable(resamples, Math.min(workByValue, pairs));
  if (pairs === 0) return undefined;
  const drawSum = (workByValue <= pairs ? drawByValue : drawByPair)(differences.histogram(), pairs);
  const means = new Float64Array(used);
  for (let i = 0; i < used; i++) means[i] = drawSum(rngAt(seed, "bootstrap", i)) / pairs;
  means.sort();
  const tail = (1 - confidence) / 2;
  return { low: quantile(means, tail), high: quantile(means, 1 - tail), resamples: used };
}

/**
 * Two-sided test that differences are symmetric about 0: the share of random sign patterns whose
 * sum is at least as far from 0 as the one seen. The pattern seen counts as one of them, so p is
 * never 0 (Phipson and Smyth 2010). Without pairs p is 1.
 */
export function signFlipTest(
  differences: DifferenceCounts,
  { seed, resamples = 10_000 }: ResamplingOptions,
): SignFlipResult {
  const sizes = magnitudes(differences.histogram());
  const used = affordable(resamples, flipWork(sizes));
  // Equal sums added in another order differ by rounding, and must still count as ties.
  const slack = 1e-12 * sumOf(sizes);
  const seen = Math.abs(sumOf(differences.histogram())) - slack;
  const pairs = sizes.counts.reduce((sum, count) => sum + count, 0);
  if (2 ** pairs <= resamples) return { p: exactShare(sizes, seen), resamples: 2 ** pairs };
  let extreme = 0;
  for (let i = 0; i < used; i++) {
    const flipped = Math.abs(drawFlippedSum(sizes, rngAt(seed, "sign-flip", i)));
    // Written as "not less" so that infinite sums give p = 1, not a significant result.
    if (!(flipped < seen)) extreme++;
  }
  return { p: (1 + extreme) / (used + 1), resamples: used };
}

/** For few pairs: the exact share of all sign patterns whose sum is at least as far from 0. */
function exactShare({ values, counts }: Histogram, seen: number): number {
  const each = [...values].flatMap((value, i) => Array<number>(counts[i] as number).fill(value));
  let sums = [0];
  for (const size of each) sums = sums.flatMap((sum) => [sum + size, sum - size]);
  return sums.filter((sum) => !(Math.abs(sum) < seen)).length / sums.length;
}

/** The histogram of |d|. Zeros stay 0 under any sign. */
function magnitudes({ values, counts }: Histogram): Histogram {
  const sizes = new DifferenceCounts();
  values.forEach((value, i) => {
    if (value !== 0) sizes.add(Math.abs(value), counts[i] as number);
  });
  return sizes.histogram();
}
