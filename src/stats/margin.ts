/**
 * Tests of a margin on the flips of pass-or-fail pairs: is a change of at least `margin` in the paired
 * pass rate ruled out? Where few pairs flip the score test (`marginRuledOut`) exceeds its level, so its
 * statistic is referred to the exact distribution of the flips instead of the normal one.
 */

import { requireCount, requireLevel } from "./_checks.ts";
import { logBinomialPmf } from "./binomial.ts";
import { normalQuantile } from "./normal-quantile.ts";

/** With more flips than this the score test keeps its level, and its cost does not grow. */
const EXACT_FLIPS = 100;
/** Points of the nuisance parameter at which the exact probability is computed. */
const GRID = 40;
/** The share of the level that is spent on bounding the nuisance parameter (Berger and Boos 1994). */
const BOUND_SHARE = 0.02;

/**
 * Whether a loss of `margin` or more is ruled out, at most `alpha / 2` of the times that it is true.
 * Up to 100 flips the probability of a statistic as low as the one seen is taken at its largest over
 * the chance of a gain that the data allow: an exact unconditional test (Hsueh, Liu and Chen 2001).
 */
export function lossRuledOut(
  gained: number,
  lost: number,
  n: number,
  margin: number,
  alpha: number,
): boolean {
  return margin > 0 && lowRuledOut(gained, lost, n, margin, alpha);
}

/** The same for any margin: a negative one asks whether gains of its size or less are ruled out. */
function lowRuledOut(
  gained: number,
  lost: number,
  n: number,
  margin: number,
  alpha: number,
): boolean {
  for (const [name, value] of Object.entries({ gained, lost, n })) requireCount(name, value);
  requireLevel("alpha", alpha);
  if (n === 0 || margin <= -1) return false;
  if (margin >= 1) return margin > 1 || lost < n;
  if (gained + lost > EXACT_FLIPS) return marginRuledOut(lost, gained, n, margin, alpha);
  const level = alpha / 2;
  const seen = marginStatistic(lost, gained, n, margin);
  const spent = BOUND_SHARE * level;
  const [least, high] = shareBounds(gained, n, spent);
  const top = Math.min(high, (1 - margin) / 2);
  if (least > top) return true; // So many gains do not happen at a loss of the margin.
  const low = Math.max(least, -margin);
  if (low > top) return false; // So few do not happen at a gain of its size.
  for (let i = 0; i <= GRID; i++) {
    // Even steps of the root: the probability changes fastest where few pairs gain.
    const share = (Math.sqrt(low) + (i / GRID) * (Math.sqrt(top) - Math.sqrt(low))) ** 2;
    if (chanceAtMost(seen, n, margin, share) + spent > level) return false;
  }
  return true;
}

/** Whether a gain of `margin` or more is ruled out: `lossRuledOut` with gains and losses exchanged. */
export function gainRuledOut(
  gained: number,
  lost: number,
  n: number,
  margin: number,
  alpha: number,
): boolean {
  return lossRuledOut(lost, gained, n, margin, alpha);
}

/** To within a hundred-thousandth of `most`, the largest possible loss; undefined when none is ruled out. */
export function smallestLossRuledOut(
  ruledOut: (margin: number) => boolean,
  most = 1,
): number | undefined {
  if (!ruledOut(most)) return undefined;
  return smallestTrue(ruledOut, 0, most, 1e-5 * most);
}

/** By bisection, where `high` holds and `low` does not. */
function smallestTrue(
  holds: (value: number) => boolean,
  low: number,
  high: number,
  tolerance = 1e-5,
): number {
  if (high - low <= tolerance) return high;
  const middle = (low + high) / 2;
  return holds(middle)
    ? smallestTrue(holds, low, middle, tolerance)
    : smallestTrue(holds, middle, high, tolerance);
}

/**
 * Interval of the paired difference in pass rate: what neither `lossRuledOut` nor `gainRuledOut` rules
 * out at `1 - confidence`, to within a hundred-thousandth. Undefined without pairs.
 */
export function flipInterval(
  gained: number,
  lost: number,
  n: number,
  confidence: number,
): { low: number; high: number } | undefined {
  requireLevel("confidence", confidence);
  if (n === 0) return undefined;
  const alpha = 1 - confidence;
  const lowest = (up: number, down: number) => {
    const ruledOut = (margin: number) => lowRuledOut(up, down, n, margin, alpha);
    if (!ruledOut(1)) return -1;
    // The score test costs little, and its end is close.
    const near = smallestTrue((margin) => marginRuledOut(down, up, n, margin, alpha), -1, 1);
    let [low, high] = [near, near];
    for (let step = 0.01; high < 1 && !ruledOut(high); step *= 2)
      [low, high] = [high, Math.min(1, high + step)];
    for (let step = 0.01; low === high || (low > -1 && ruledOut(low)); step *= 2)
      [low, high] = [Math.max(-1, low - step), low];
    return -smallestTrue(ruledOut, low, high);
  };
  return { low: lowest(gained, lost), high: -lowest(lost, gained) };
}

/**
 * Tango's score test (1998) of "the paired difference is at least `margin`": with b gained, c lost
 * of n, T = (b - c - n d) / sqrt(n (2 q + d (1 - d))), where q is the constrained estimate of the
 * chance of a loss at difference d. Its level is that of a normal approximation; where few pairs flip
 * use `lossRuledOut` or `gainRuledOut`.
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

/**
 * P(statistic <= seen) when a pair is lost with chance share + margin and gained with `share`. The
 * statistic falls as gains rise and losses fall, so for each number of gains there is a largest
 * number of losses that counts; of the pairs that do not gain, a share of `chanceOfLoss` is lost.
 */
function chanceAtMost(seen: number, n: number, margin: number, share: number): number {
  const chanceOfLoss = Math.min(1, (share + margin) / (1 - share));
  let total = 0;
  let losses = -1;
  for (let gains = 0; gains <= n; gains++) {
    const log = logBinomialPmf(gains, n, share);
    while (
      losses < n - gains &&
      marginStatistic(losses + 1, gains, n, margin) <= seen + 1e-9 * (1 + Math.abs(seen))
    )
      losses++;
    losses = Math.min(losses, n - gains);
    // Far above the mean nothing more is added.
    if (log < -60 && gains > n * share) break;
    if (log < -60 || losses < 0) continue;
    total += Math.exp(log) * binomialAtMost(losses, n - gains, chanceOfLoss);
  }
  return total;
}

/** P(X <= k) for X ~ Bin(n, p). */
export function binomialAtMost(k: number, n: number, p: number): number {
  if (k >= n || p <= 0) return 1;
  if (k < 0 || p >= 1) return k < 0 ? 0 : Number(k >= n);
  // Summed from the end that has fewer terms above rounding: away from the mean.
  if (k > n * p) return 1 - sumFrom(k + 1, n, p, 1);
  return sumFrom(k, n, p, -1);
}

/** The probabilities of k, k + step, … to the end, each from the one before. */
function sumFrom(k: number, n: number, p: number, step: 1 | -1): number {
  const odds = p / (1 - p);
  let term = Math.exp(logBinomialPmf(k, n, p));
  let sum = term;
  for (let j = k; step < 0 ? j > 0 : j < n; j += step) {
    term *= step < 0 ? j / ((n - j + 1) * odds) : ((n - j) * odds) / (j + 1);
    sum += term;
    if (term < sum * 1e-17) break;
  }
  return sum;
}

/** Clopper and Pearson's bounds of a share, which both ends together miss with chance `miss`. */
function shareBounds(successes: number, n: number, miss: number): [low: number, high: number] {
  const solve = (below: (share: number) => boolean) => {
    let [low, high] = [0, 1];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (below(middle)) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  return [
    successes === 0 ? 0 : solve((p) => 1 - binomialAtMost(successes - 1, n, p) < miss / 2),
    successes === n ? 1 : solve((p) => binomialAtMost(successes, n, p) > miss / 2),
  ];
}
