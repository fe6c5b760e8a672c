/** How one resample of paired differences is drawn, and how many resamples a call may have. */

import type { Rng } from "../core/rng.ts";
import { requireCount } from "./_checks.ts";
import { drawBinomial } from "./binomial.ts";
import type { Histogram } from "./difference-counts.ts";

/** Simple draws one call may spend, a second or two; beyond it resamples are given up … */
export const WORK_LIMIT = 50_000_000;
/** … but never below this many, where each end of a 95% interval still rests on 25 resamples. */
export const FEWEST_RESAMPLES = 1000;
/** What a binomial draw costs in simple draws, roughly. */
export const BINOMIAL_COST = 10;

/** How many of the wanted resamples fit `WORK_LIMIT`, when each takes `workEach` simple draws. */
export function affordable(wanted: number, workEach: number): number {
  requireCount("resamples", wanted);
  if (wanted === 0) throw new RangeError("resamples must be at least 1");
  const fitting = Math.floor(WORK_LIMIT / Math.max(1, workEach));
  return Math.min(wanted, Math.max(FEWEST_RESAMPLES, fitting));
}

/** The sum of one bootstrap resample. */
export type SumDraw = (rng: Rng) => number;

/** A resample is multinomial: each value's count is binomial among the draws and pairs left over. */
export function drawByValue({ values, counts }: Histogram, pairs: number): SumDraw {
  return (rng) => {
    let sum = 0;
    let drawsLeft = pairs;
    let pairsLeft = pairs;
    for (let i = 0; i < values.length && drawsLeft > 0; i++) {
      const count = counts[i] as number;
      const drawn = drawBinomial(drawsLeft, count / pairsLeft, rng);
      sum += drawn * (values[i] as number);
      drawsLeft -= drawn;
      pairsLeft -= count;
    }
    return sum;
  };
}

/** The same distribution one pair at a time, cheaper when values hardly repeat. */
export function drawByPair({ values, counts }: Histogram, pairs: number): SumDraw {
  const each = new Float64Array(pairs);
  let start = 0;
  values.forEach((value, i) => {
    const end = start + (counts[i] as number);
    each.fill(value, start, end);
    start = end;
  });
  return (rng) => {
    let sum = 0;
    for (let i = 0; i < pairs; i++) sum += each[rng.below(pairs)] as number;
    return sum;
  };
}

/** The sum after a fair coin has set the sign of every pair; `sizes` holds no negative values. */
export function drawFlippedSum({ values, counts }: Histogram, rng: Rng): number {
  const heads = coins(rng);
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const count = counts[i] as number;
    sum += (values[i] as number) * (2 * heads(count) - count);
  }
  return sum;
}

/** Fair tosses are the bits of random words of this many; 30 keeps them non-negative integers. */
const WORD_BITS = 30;
/** From this count on a binomial draw is cheaper than the words. */
const TOSS_LIMIT = WORD_BITS * BINOMIAL_COST;

/** What `drawFlippedSum` costs in simple draws, at most. */
export function flipWork({ counts }: Histogram): number {
  return counts.reduce((work, c) => work + Math.ceil(Math.min(c, TOSS_LIMIT) / WORD_BITS), 0);
}

/** Counts heads among fair tosses, spending one random word on as many calls as it lasts. */
function coins(rng: Rng): (tosses: number) => number {
  let word = 0;
  let left = 0;
  return (tosses) => {
    if (tosses >= TOSS_LIMIT) return drawBinomial(tosses, 0.5, rng);
    let heads = 0;
    let due = tosses;
    for (; due >= WORD_BITS; due -= WORD_BITS) heads += onesIn(rng.below(2 ** WORD_BITS));
    if (left < due) {
      word = rng.below(2 ** WORD_BITS);
      left = WORD_BITS;
    }
    heads += onesIn(word & ((1 << due) - 1));
    word >>>= due;
    left -= due;
    return heads;
  };
}

/** The number of one bits, added up in pairs, fours and eights (Warren, "Hacker's Delight"). */
function onesIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  const eights = (fours + (fours >>> 4)) & 0x0f0f0f0f;
  return Math.imul(eights, 0x01010101) >>> 24;
}
