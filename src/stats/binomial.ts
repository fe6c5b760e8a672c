/** The binomial distribution: probabilities that keep their relative accuracy, and exact draws. */

import type { Rng } from "../core/rng.ts";
import { requireCount, requireShare } from "./_checks.ts";

/**
 * log P(X = k) for X ~ Bin(n, p), by Loader's saddle-point form (2000, "Fast and Accurate
 * Computation of Binomial Probabilities"). Differences of log-factorials would be wrong from the
 * ninth digit on at n = 1e6; here large terms never meet.
 */
export function logBinomialPmf(k: number, n: number, p: number): number {
  if (k < 0 || k > n) return Number.NEGATIVE_INFINITY;
  if (k === 0) return n === 0 ? 0 : n * Math.log1p(-p);
  if (k === n) return n * Math.log(p);
  const correction = stirlingError(n) - stirlingError(k) - stirlingError(n - k);
  const distance = deviance(k, n * p) + deviance(n - k, n * (1 - p));
  return correction - distance + 0.5 * Math.log(n / (2 * Math.PI * k * (n - k)));
}

/** log n! minus Stirling's (n + 1/2) log n - n + log(2 pi) / 2, for n >= 1. */
function stirlingError(n: number): number {
  if (n < SMALL_ERRORS.length) return SMALL_ERRORS[n] as number;
  const s = 1 / (n * n);
  return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / n;
}

/** Below 16 the series falls short of a double; the factorials themselves do not. */
const SMALL_ERRORS = Array.from({ length: 16 }, (_, n) => {
  let factorial = 1;
  for (let j = 2; j <= n; j++) factorial *= j;
  return Math.log(factorial) - (n + 0.5) * Math.log(n) + n - 0.5 * Math.log(2 * Math.PI);
});

/** x log(x / mean) - (x - mean), with both terms kept as small as the gap between the two. */
function deviance(x: number, mean: number): number {
  const gap = x - mean;
  return x * Math.log1p(gap / mean) - gap;
}

/** Up to here 2^n and every C(n, k) fit a double, and small cases come out exact to the bit. */
const DIRECT_LIMIT = 1000;

/** P(X <= k) for X ~ Bin(n, 1/2), accurate in relative terms until it underflows. */
export function binomialTail(k: number, n: number): number {
  requireCount("n", n);
  if (!Number.isInteger(k)) throw new RangeError(`k must be a whole number, found ${k}`);
  if (k < 0) return 0;
  if (k >= n) return 1;
  if (2 * k >= n) return 1 - binomialTail(n - k - 1, n);
  return n <= DIRECT_LIMIT
    ? sumDownFrom(choose(n, k), k, n) * 2 ** -n
    : sumDownFrom(1, k, n) * Math.exp(logBinomialPmf(k, n, 0.5));
}

/** The sum of terms k, k - 1, … given the k-th; below the middle each is smaller than the last. */
function sumDownFrom(largest: number, k: number, n: number): number {
  let sum = largest;
  let term = largest;
  for (let j = k; j > 0 && term > sum * 1e-20; j--) {
    term = (term * j) / (n - j + 1);
    sum += term;
  }
  return sum;
}

/** C(n, k); every partial product is itself a binomial coefficient, so whole while below 2^53. */
function choose(n: number, k: number): number {
  let product = 1;
  for (let j = 1; j <= k; j++) product = (product * (n - j + 1)) / j;
  return product;
}

/** A draw from Bin(n, p), by inversion where few successes are expected and rejection elsewhere. */
export function drawBinomial(n: number, p: number, rng: Rng): number {
  requireCount("n", n);
  requireShare("p", p);
  if (p > 0.5) return n - drawBinomial(n, 1 - p, rng);
  return n * p < 10 ? drawByInversion(n, p, rng) : drawByRejection(n, p, rng);
}

/**
 * With n p < 10 fewer than one draw in 1e50 lies above this. A walk that gets here has met a
 * uniform beyond the rounded sum of all probabilities, and starts again.
 */
const INVERSION_LIMIT = 110;

function drawByInversion(n: number, p: number, rng: Rng): number {
  const odds = p / (1 - p);
  for (;;) {
    let left = rng.next();
    let probability = Math.exp(n * Math.log1p(-p));
    for (let k = 0; k <= Math.min(n, INVERSION_LIMIT); k++) {
      if (left < probability) return k;
      left -= probability;
      probability *= (odds * (n - k)) / (k + 1);
    }
  }
}

/**
 * Algorithm BTRS of W. Hörmann (1993), "The generation of binomial random variates", for
 * n p >= 10 and p <= 1/2; symbols are the paper's. The squeeze `v <= vr` settles most draws, and
 * the rest compare with the probability relative to the mode m.
 */
function drawByRejection(n: number, p: number, rng: Rng): number {
  const spq = Math.sqrt(n * p * (1 - p));
  const b = 1.15 + 2.53 * spq;
  const a = -0.0873 + 0.0248 * b + 0.01 * p;
  const alpha = (2.83 + 5.1 / b) * spq;
  const vr = 0.92 - 4.2 / b;
  for (;;) {
    const u = rng.next() - 0.5;
    const v = rng.next();
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + n * p + 0.5);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || k > n) continue;
    const height = Math.log((v * alpha) / (a / (us * us) + b));
    const m = Math.floor((n + 1) * p);
    if (height <= logBinomialPmf(k, n, p) - logBinomialPmf(m, n, p)) return k;
  }
}
