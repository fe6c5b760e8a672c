/**
 * BLEU of one sentence with one reference, runs of 1 to 4 words of equal weight. Which one the API
 * uses is not documented, so there are three: NLTK's sentence_bleu, the same with its smoothing
 * method 1, and sacreBLEU's sentence_bleu.
 */

import { nGrams, overlap, runsOf } from "./n-grams.ts";
import { mtevalWords, words } from "./tokens.ts";

export const BLEU_VARIANTS = ["nltk", "nltk_method1", "sacrebleu"] as const;
export type BleuVariant = (typeof BLEU_VARIANTS)[number];

const LONGEST = 4;
/** What NLTK takes for the precision where no run of a length matches: the smallest normal number. */
const SMALLEST = 2.2250738585072014e-308;
/** What its method 1 takes for the count. */
const EPSILON = 0.1;

export function bleu(variant: BleuVariant, hypothesis: string, reference: string): number {
  if (variant === "sacrebleu") return sacre(mtevalWords(hypothesis), mtevalWords(reference));
  return nltk(variant === "nltk_method1", words(hypothesis), words(reference));
}

type Words = readonly string[];

/** Matching and all runs of our words, by length. */
function counts(ours: Words, theirs: Words): { readonly common: number; readonly all: number }[] {
  return Array.from({ length: LONGEST }, (_, i) => ({
    common: overlap(nGrams(ours, i + 1), nGrams(theirs, i + 1)),
    all: runsOf(ours.length, i + 1),
  }));
}

function nltk(smooth: boolean, ours: Words, theirs: Words): number {
  const found = counts(ours, theirs);
  if (found[0]?.common === 0) return 0;
  const logs = found.map(({ common, all }) => {
    const runs = Math.max(1, all);
    if (common > 0) return Math.log(common / runs);
    return Math.log(smooth ? EPSILON / runs : SMALLEST);
  });
  return brevity(ours.length, theirs.length) * Math.exp(sum(logs.map((log) => log / LONGEST)));
}

/** Lengths without any run are left out; a length without a match counts half as much as the last. */
function sacre(ours: Words, theirs: Words): number {
  const found = counts(ours, theirs).filter(({ all }) => all > 0);
  if (!found.some(({ common }) => common > 0)) return 0;
  let halves = 1;
  const logs = found.map(({ common, all }) => {
    if (common === 0) halves *= 2;
    return Math.log(common === 0 ? 1 / (halves * all) : common / all);
  });
  return brevity(ours.length, theirs.length) * Math.exp(sum(logs) / logs.length);
}

function brevity(ours: number, theirs: number): number {
  if (ours > theirs) return 1;
  return ours === 0 ? 0 : Math.exp(1 - theirs / ours);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
