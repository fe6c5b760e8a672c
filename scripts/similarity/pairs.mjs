/** Pairs of texts for the metrics: sentences, edits of one another, code, and Unicode of all kinds. */

import { rngAt } from "../../dist/core/index.js";

const WORDS = [
  ..."the a red Fox fox sleeps slept under old oak tree tree, blue whale eats small fish .".split(
    " ",
  ),
  ..."ate krill quickly 3.14 1,000 42 don't it's U.S.A. -5 50% $9.99 x=1 {a:1} [0] <b> &amp;".split(
    " ",
  ),
];
const ODD = [
  ..."äöü ß ẞ İ ı ﬁ Σίσυφος ΣΑΣ é é 日本語 русский עברית العربية 👍 👩‍👩‍👧 𝔘𝔫𝔦 ｆｕｌｌ K".split(
    " ",
  ),
  ...["\u00a0", "\u0085", "\u2028", "\u200b", "\ufeff", "\u001c", "\t", "\r\n", "-\n", "\u3000"],
  ...["\ue000", "\ufffd", "\u{1f600}", "\u{10ffff}", "&quot;", "&lt;", "<skipped>", "a.b,c", "1-2"],
];

export function pairsOf(count, seed) {
  return Array.from({ length: count }, (_, i) => pair(rngAt(seed, i), i));
}

function pair(rng, i) {
  const pick = (list) => list[rng.below(list.length)];
  const text = (length, odd) => {
    let made = "";
    for (let j = 0; j < length; j++) {
      made += rng.next() < odd ? pick(ODD) : pick(WORDS);
      made += rng.next() < 0.95 ? " " : "";
    }
    return rng.next() < 0.8 ? made.trim() : made;
  };
  const odd = [0, 0, 0.1, 0.5][i % 4];
  const length = pick([0, 1, 2, 3, 5, 8, 13, 21, 40, 90]);
  const one = text(length, odd);
  if (rng.next() < 0.35) return [one, text(pick([0, 1, 2, 4, 9, 20, 60]), odd)];
  if (rng.next() < 0.1) return [one, one];
  return [one, edited(one, rng, pick, odd)];
}

/** Words dropped, doubled, exchanged, replaced or moved. */
function edited(text, rng, pick, odd) {
  const words = text.split(" ").flatMap((word) => {
    const luck = rng.next();
    if (luck < 0.08) return [];
    if (luck < 0.12) return [word, word];
    if (luck < 0.25) return [rng.next() < odd ? pick(ODD) : pick(WORDS)];
    return luck < 0.3 ? [word.toUpperCase()] : [word];
  });
  if (rng.next() < 0.3) words.push(...words.splice(0, rng.below(words.length + 1)));
  return words.join(" ");
}
