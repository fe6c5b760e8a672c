/** Google's BLEU for one sentence, as NLTK's sentence_gleu: runs of 1 to 4 words, counted together. */

import { nGrams, overlap, runsOf } from "./n-grams.ts";
import { words } from "./tokens.ts";

const LONGEST = 4;

export function gleu(hypothesis: string, reference: string): number {
  const [ours, theirs] = [words(hypothesis), words(reference)];
  let [common, all] = [0, [0, 0] as [number, number]];
  for (let n = 1; n <= LONGEST; n++) {
    common += overlap(nGrams(ours, n), nGrams(theirs, n));
    all = [all[0] + runsOf(ours.length, n), all[1] + runsOf(theirs.length, n)];
  }
  const most = Math.max(...all);
  return most === 0 ? 0 : common / most;
}
