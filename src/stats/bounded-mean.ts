/**
 * Is a mean loss ruled out, for changes of any distribution on a known range? The test holds for every
 * number of independent units, without a normal approximation: it bets against the loss (Waudby-Smith
 * and Ramdas 2024). A capital of 1 is multiplied by 1 + λ (change + margin) for each unit. If the mean
 * loss is the margin or more, no bet has a gain on average, so the capital reaches 1 / level with a
 * probability of at most the level (Markov). The average of several fixed bets is such a capital too.
 * At a margin of 0 it is the test that the mean is above 0.
 */

import { requireLevel } from "./_checks.ts";
import { normalQuantile } from "./normal-quantile.ts";
import { MAX_PAIRS } from "./power.ts";

/** A unit, such as a pair or a cluster of them, and how many are like it. */
export interface BoundedUnit {
  /** Between -range · weight and range · weight. */
  readonly change: number;
  /** At most 1: its rows as a share of those of the largest unit. */
  readonly weight: number;
  readonly count: number;
}

interface BoundedMean {
  readonly units: readonly BoundedUnit[];
  /** The largest possible change of a unit of weight 1. */
  readonly range: number;
  /** From 0 up. */
  readonly margin: number;
}

export interface BoundedMeanQuestion extends BoundedMean {
  /** Two-sided, as everywhere: the test is wrong with a probability of at most half of it. */
  readonly alpha: number;
}

/** Whether a mean change of -`margin`, weighted by the units' weights, or an even lower one is ruled out. */
export function meanLossRuledOut(question: BoundedMeanQuestion): boolean {
  requireLevel("alpha", question.alpha);
  return logCapital(question) >= Math.log(2 / question.alpha);
}

/** The two-sided p-value of that test: the lowest `alpha` at which the loss is ruled out; never 0. */
export function meanLossPValue(question: BoundedMean): number {
  return Math.min(1, Number.MIN_VALUE + 2 * Math.exp(-logCapital(question)));
}

/** The same units with gains and losses exchanged. */
export function negated(units: readonly BoundedUnit[]): BoundedUnit[] {
  return units.map((unit) => ({ ...unit, change: -unit.change }));
}

/** The logarithm of the average capital of all bets. */
function logCapital({ units, range, margin }: BoundedMean): number {
  const size = sizeOf(units);
  if (size === 0 || !(margin >= 0) || !(range > 0)) return Number.NEGATIVE_INFINITY;
  if (margin >= range)
    return margin > range || units.some(({ change, weight }) => change > -range * weight)
      ? Number.POSITIVE_INFINITY
      : Number.NEGATIVE_INFINITY;
  const bets = betsFor(size);
  const logs = bets.map((bet) => growthOf({ units, range, margin }, bet).mean * size);
  const largest = Math.max(...logs);
  if (largest === Number.NEGATIVE_INFINITY) return largest;
  const scaled = logs.reduce((sum, log) => sum + Math.exp(log - largest), 0);
  return largest + Math.log(scaled / bets.length);
}

/** The logarithm by which one unit multiplies the capital: its mean, and its standard deviation. */
function growthOf({ units, range, margin }: BoundedMean, bet: number): Growth {
  const lambda = bet / (range - margin);
  let [sum, squares, n] = [0, 0, 0];
  for (const { change, weight, count } of units) {
    const log = Math.log(Math.max(0, 1 + lambda * (change + margin * weight)));
    n += count;
    sum += count * log;
    squares += count * log * log;
  }
  const mean = sum / n;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / n - mean * mean)) };
}

interface Growth {
  readonly mean: number;
  readonly deviation: number;
}

interface PowerOfBets extends BoundedMeanQuestion {
  readonly power?: number | undefined;
}

/** Whether `size` units that vary as these do rule the loss out with the given power, by one of the bets. */
function isEnough({ alpha, power = 0.8 }: PowerOfBets, size: number, growth: GrowthOfBet): boolean {
  const bets = betsFor(size);
  const needed = Math.log((2 * bets.length) / alpha);
  const z = normalQuantile(power);
  return bets.some((bet) => {
    const { mean, deviation } = growth(bet);
    return mean > 0 && size * mean - z * deviation * Math.sqrt(size) >= needed;
  });
}

type GrowthOfBet = (bet: number) => Growth;

/**
 * About how many units rule the loss out with the given power, if they vary as these do: the logarithm of
 * the capital is a sum over units, and so about normal. To within a hundredth; undefined when a thousand
 * million are not enough.
 */
export function unitsToRuleOut(question: PowerOfBets): number | undefined {
  const { units, range, margin, alpha } = question;
  requireLevel("alpha", alpha);
  if (sizeOf(units) === 0 || !(range > 0) || margin >= range) return undefined;
  const known = new Map<number, Growth>();
  const growth = (bet: number) => {
    const found = known.get(bet) ?? growthOf(question, bet);
    known.set(bet, found);
    return found;
  };
  for (let size = 1; size <= MAX_PAIRS; size = Math.ceil(size * 1.01))
    if (isEnough(question, size, growth)) return size;
  return undefined;
}

/**
 * The smallest mean change that these units, moved by a constant, show with the given power at a margin
 * of 0. Undefined when even the largest possible change is not enough.
 */
export function smallestMeanShown({
  units,
  range,
  ...rest
}: Omit<PowerOfBets, "margin">): number | undefined {
  const size = sizeOf(units);
  if (size === 0 || !(range > 0)) return undefined;
  const weights = units.reduce((sum, { weight, count }) => sum + weight * count, 0);
  const mean = units.reduce((sum, { change, count }) => sum + change * count, 0) / weights;
  const shown = (shift: number) => {
    const moved = units.map(({ change, weight, count }) => {
      const [most, to] = [range * weight, change + (shift - mean) * weight];
      return { change: Math.max(-most, Math.min(most, to)), weight, count };
    });
    const question = { ...rest, units: moved, range, margin: 0 };
    return isEnough(question, size, (bet) => growthOf(question, bet));
  };
  if (!shown(range)) return undefined;
  let [low, high] = [0, range];
  while (high - low > 1e-5 * range) {
    const middle = (low + high) / 2;
    if (shown(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function sizeOf(units: readonly BoundedUnit[]): number {
  return units.reduce((sum, { count }) => sum + count, 0);
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
