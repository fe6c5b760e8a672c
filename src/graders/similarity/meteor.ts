/**
 * METEOR as NLTK computes it with alpha 0.9, beta 3 and gamma 0.5, but on equal words alone: without
 * its stemmer and without WordNet's synonyms, which are 30 MB of data. Case does not count.
 */

import { words } from "./tokens.ts";

const [ALPHA, BETA, GAMMA] = [0.9, 3, 0.5];

export function meteor(hypothesis: string, reference: string): number {
  const [ours, theirs] = [words(hypothesis.toLowerCase()), words(reference.toLowerCase())];
  const matched = matches(ours, theirs);
  if (matched.length === 0) return 0;
  const precision = matched.length / ours.length;
  const recall = matched.length / theirs.length;
  const mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall);
  return (1 - GAMMA * (chunks(matched) / matched.length) ** BETA) * mean;
}

type Match = readonly [ours: number, theirs: number];

/** From the end, each word with the last equal one that is free; in the order of our words. */
function matches(ours: readonly string[], theirs: readonly string[]): Match[] {
  const free = new Map<string, number[]>();
  theirs.forEach((word, i) => {
    const places = free.get(word);
    if (places) places.push(i);
    else free.set(word, [i]);
  });
  const found: Match[] = [];
  for (let i = ours.length - 1; i >= 0; i--) {
    const place = free.get(ours[i] as string)?.pop();
    if (place !== undefined) found.push([i, place]);
  }
  return found.reverse();
}

/** Runs of matches that are neighbours in both texts. */
function chunks(matched: readonly Match[]): number {
  let count = 1;
  for (let i = 1; i < matched.length; i++) {
    const [[a, b], [c, d]] = [matched[i - 1] as Match, matched[i] as Match];
    if (c !== a + 1 || d !== b + 1) count++;
  }
  return count;
}
