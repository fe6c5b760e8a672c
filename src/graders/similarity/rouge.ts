/** ROUGE-N and ROUGE-L as F1, as rouge-score 0.1.2 computes them without a stemmer. */

import { lcsLength } from "./lcs.ts";
import { requireSize } from "./limits.ts";
import { nGrams, overlap, runsOf } from "./n-grams.ts";
import { numbered, rougeWords } from "./tokens.ts";

export function rougeN(n: number, hypothesis: string, reference: string): number {
  const [ours, theirs] = [rougeWords(hypothesis), rougeWords(reference)];
  const common = overlap(nGrams(theirs, n), nGrams(ours, n));
  return f1(common, runsOf(ours.length, n), runsOf(theirs.length, n));
}

export function rougeL(hypothesis: string, reference: string): number {
  const [ours, theirs] = numbered(rougeWords(hypothesis), rougeWords(reference)) as [
    Int32Array,
    Int32Array,
  ];
  requireSize("rouge_l", "words", ours, theirs);
  return f1(lcsLength(ours, theirs), ours.length, theirs.length);
}

function f1(common: number, ours: number, theirs: number): number {
  const precision = common / Math.max(ours, 1);
  const recall = common / Math.max(theirs, 1);
  return precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
}
