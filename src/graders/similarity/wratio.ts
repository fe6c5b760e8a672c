/**
 * rapidfuzz's `WRatio` as a share: the best of the whole texts, their sorted words, their sets of
 * words and, where one text is much longer, of its best part; all but the first are discounted.
 */

import { ratioOf } from "./fuzzy.ts";
import { lcsLength } from "./lcs.ts";
import { LARGEST_PRODUCT, TooLarge } from "./limits.ts";
import { codePoints, rapidfuzzWords } from "./tokens.ts";

const WORDS_SCALE = 0.95;
/** From this ratio of the lengths on, parts of the longer text count. */
const PARTS_FROM = 1.5;
const FAR_LONGER = 8;

export function wRatio(one: string, other: string): number {
  const [a, b] = [codePoints(one), codePoints(other)];
  if (a.length === 0 || b.length === 0) return 0;
  const lengths = Math.max(a.length, b.length) / Math.min(a.length, b.length);
  const whole = ratioOf(a, b);
  const [ours, theirs] = [rapidfuzzWords(one), rapidfuzzWords(other)];
  if (lengths < PARTS_FROM) {
    const sorted = ratioOf(sortedPoints(ours), sortedPoints(theirs));
    return Math.max(whole, WORDS_SCALE * Math.max(setRatio(ours, theirs), sorted));
  }
  const scale = lengths <= FAR_LONGER ? 0.9 : 0.6;
  return Math.max(
    whole,
    scale * partialRatio(a, b),
    WORDS_SCALE * scale * partialWordsRatio(ours, theirs),
  );
}

type Words = readonly string[];

interface Sets {
  readonly both: Words;
  readonly onlyOurs: Words;
  readonly onlyTheirs: Words;
}

function setsOf(ours: Words, theirs: Words): Sets {
  const [a, b] = [new Set(ours), new Set(theirs)];
  return {
    both: [...a].filter((word) => b.has(word)),
    onlyOurs: [...a].filter((word) => !b.has(word)),
    onlyTheirs: [...b].filter((word) => !a.has(word)),
  };
}

/** Compares common words with common words and the rest of each side, whichever is most alike. */
function setRatio(ours: Words, theirs: Words): number {
  if (ours.length === 0 || theirs.length === 0) return 0;
  const { both, onlyOurs, onlyTheirs } = setsOf(ours, theirs);
  if (both.length > 0 && (onlyOurs.length === 0 || onlyTheirs.length === 0)) return 1;
  const [a, b] = [sortedPoints(onlyOurs), sortedPoints(onlyTheirs)];
  const common = sortedPoints(both).length;
  const gap = common > 0 ? 1 : 0;
  const all = 2 * (common + gap) + a.length + b.length;
  const rest = 1 - (a.length + b.length - 2 * lcsLength(a, b)) / all;
  if (common === 0) return rest;
  const withOne = ({ length }: Int32Array) => 1 - (gap + length) / (2 * common + gap + length);
  return Math.max(rest, withOne(a), withOne(b));
}

function partialWordsRatio(ours: Words, theirs: Words): number {
  const { both, onlyOurs, onlyTheirs } = setsOf(ours, theirs);
  if (both.length > 0) return 1;
  const sorted = partialRatio(sortedPoints(ours), sortedPoints(theirs));
  if (onlyOurs.length === ours.length && onlyTheirs.length === theirs.length) return sorted;
  return Math.max(sorted, partialRatio(sortedPoints(onlyOurs), sortedPoints(onlyTheirs)));
}

/** The shorter text against every part of the longer one that is as long, or shorter at an end. */
function partialRatio(one: Int32Array, other: Int32Array): number {
  if (one.length === 0 && other.length === 0) return 1;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length * short.length * long.length > LARGEST_PRODUCT)
    throw new TooLarge("fuzzy_match (WRatio)", "characters, for each part", [
      short.length,
      short.length * long.length,
    ]);
  const best = bestPart(short, long);
  return short.length === long.length ? Math.max(best, bestPart(long, short)) : best;
}

function bestPart(short: Int32Array, long: Int32Array): number {
  let best = 0;
  for (let end = 1; end < long.length + short.length && best < 1; end++) {
    const part = long.subarray(Math.max(0, end - short.length), end);
    const all = short.length + part.length;
    best = Math.max(best, 1 - (all - 2 * lcsLength(short, part)) / all);
  }
  return best;
}

/** In the order of code points, which is Python's; JavaScript sorts by UTF-16 units. */
function sortedPoints(list: Words): Int32Array {
  return codePoints([...list].sort(byCodePoints).join(" "));
}

function byCodePoints(one: string, other: string): number {
  const [a, b] = [codePoints(one), codePoints(other)];
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
  }
  return a.length - b.length;
}
