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
  /** Resamples drawn, or patterns counted: fewer than wanted where the work would pass 5e7 draws. */
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
 * never 0 (Phipson and Smyth 2010); below what the resamples can show it is Hoeffding's bound (1963),
 * so that a correction for many tests does not meet a floor. Up to 24 pairs all patterns are counted.
 * Without pairs p is 1.
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
  if (!Number.isFinite(seen)) return { p: 1, resamples: used };
  const pairs = sizes.counts.reduce((sum, count) => sum + count, 0);
  if (pairs <= EXACT_PAIRS) return { p: exactShare(sizes, seen), resamples: 2 ** pairs };
  let extreme = 0;
  for (let i = 0; i < used; i++) {
    const flipped = Math.abs(drawFlippedSum(sizes, rngAt(seed, "sign-flip", i)));
    // Written as "not less" so that infinite sums give p = 1, not a significant result.
    if (!(flipped < seen)) extreme++;
  }
  const bound =
    Number.MIN_VALUE + 2 * Math.exp(-(seen ** 2) / (2 * sumOf(sizes, (size) => size ** 2)));
  const p = (1 + extreme) / (used + 1);
  return { p: bound < 1 / (used + 1) ? Math.min(p, bound) : p, resamples: used };
}

/** With so few pairs all sign patterns are counted. */
const EXACT_PAIRS = 24;

/**
 * The share of all sign patterns whose sum is at least as far from 0. The sums of either half of the
 * pairs are sorted; for each of one half, those of the other that reach far enough are a sorted rest.
 */
function exactShare({ values, counts }: Histogram, seen: number): number {
  if (!(seen > 0)) return 1;
  const each = [...values].flatMap((value, i) => Array<number>(counts[i] as number).fill(value));
  const half = Math.floor(each.length / 2);
  const [some, others] = [each.slice(0, half), each.slice(half)].map(signedSums) as [
    Float64Array,
    Float64Array,
  ];
  let far = 0;
  let from = others.length;
  for (const sum of some) {
    while (from > 0 && sum + (others[from - 1] as number) >= seen) from--;
    far += others.length - from;
  }
  // As many lie as far below 0.
  return (2 * far) / (some.length * others.length);
}

/** The sums under all signs, in ascending order. */
function signedSums(sizes: readonly number[]): Float64Array {
  let sums = [0];
  for (const size of sizes) sums = sums.flatMap((sum) => [sum + size, sum - size]);
  return Float64Array.from(sums).sort();
}

/** The histogram of |d|. Zeros stay 0 under any sign. */
function magnitudes({ values, counts }: Histogram): Histogram {
  const sizes = new DifferenceCounts();
  values.forEach((value, i) => {
    if (value !== 0) sizes.add(Math.abs(value), counts[i] as number);
  });
  return sizes.histogram();
}
