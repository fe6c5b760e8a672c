/** Random edits of a text, and edits that can be taken back one by one. */

import type { Rng } from "../core/rng.ts";

/** Replaces `remove` UTF-16 units at `at` of the original with `insert`. */
export interface TextEdit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** Applies edits of places that do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let [result, from] = ["", 0];
  for (const { at, remove, insert } of edits.toSorted((a, b) => a.at - b.at)) {
    if (at < from) continue;
    result += text.slice(from, at) + insert;
    from = at + remove;
  }
  return result + text.slice(from);
}

const CHARACTERS = [
  ..."0123456789-+.,:; \t\n\r'\"eExXoOlI/%()[]{}<>#*$\\_|",
  ..."\0\u00a0\u200b\u200d\u2028\u202e\u2212\u0663\uff11\u0430\ufeff\u00bd\u{1d7ce}",
];

/** A character that often matters, or any printable one. */
function character(rng: Rng): string {
  return rng.below(2) === 0 ? pick(CHARACTERS, rng) : String.fromCharCode(32 + rng.below(95));
}

/** One edit by character, token, line or byte. `words` are texts that may matter to the scorer. */
export function randomEdit(text: string, rng: Rng, words: readonly string[]): TextEdit {
  const at = rng.below(text.length + 1);
  switch (rng.below(8)) {
    case 0:
      return { at, remove: 1, insert: "" };
    case 1:
      return { at, remove: 0, insert: character(rng) };
    case 2:
      return { at, remove: 1, insert: character(rng) };
    case 3:
      return words.length > 0
        ? { at, remove: 0, insert: pick(words, rng) }
        : { at, remove: 0, insert: text.charAt(at - 1) };
    case 4:
      return tokenEdit(text, at, rng, words);
    case 5:
      return lineEdit(text, at, rng);
    case 6:
      return byteEdit(text, at, rng);
    default: {
      const unit = text.charAt(at);
      const other = unit.toLowerCase() === unit ? unit.toUpperCase() : unit.toLowerCase();
      return other === unit
        ? { at, remove: 1, insert: unit + unit }
        : { at, remove: 1, insert: other };
    }
  }
}

export const pick = <T>(items: readonly T[], rng: Rng): T => items[rng.below(items.length)] as T;

/** The run of letters, of digits or of others around a place: dropped, doubled or replaced. */
function tokenEdit(text: string, at: number, rng: Rng, words: readonly string[]): TextEdit {
  const kind = (i: number) => {
    const unit = text.charCodeAt(i);
    if (unit >= 48 && unit <= 57) return 1;
    return (unit | 32) >= 97 && (unit | 32) <= 122 ? 2 : 3;
  };
  let [start, end] = [at, at];
  while (start > 0 && kind(start - 1) === kind(at)) start--;
  while (end < text.length && kind(end) === kind(at)) end++;
  const token = text.slice(start, end);
  const choice = rng.below(3);
  const insert =
    choice === 0 ? "" : choice === 1 || words.length === 0 ? token + token : pick(words, rng);
  return { at: start, remove: end - start, insert };
}

function lineEdit(text: string, at: number, rng: Rng): TextEdit {
  const start = text.lastIndexOf("\n", Math.max(0, at - 1)) + 1;
  const found = text.indexOf("\n", at);
  const end = found < 0 ? text.length : found + 1;
  if (start >= end) return { at, remove: 0, insert: "\n" };
  const line = text.slice(start, end);
  const twice = line.endsWith("\n") ? line + line : `${line}\n${line}`;
  return { at: start, remove: end - start, insert: rng.below(2) === 0 ? "" : twice };
}

/** One bit of the UTF-8 form of a character. */
function byteEdit(text: string, at: number, rng: Rng): TextEdit {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 32);
  const bytes = Buffer.from(character);
  const index = rng.below(bytes.length);
  bytes[index] = (bytes[index] as number) ^ (1 << rng.below(8));
  return { at, remove: Math.min(character.length, text.length - at), insert: bytes.toString() };
}
