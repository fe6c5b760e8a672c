/** Which prompt a row answers, and which prompts are the same problem. */

import { sha256 } from "./fingerprint.ts";

/** Of a prompt's exact text, short enough to stand in every row. */
export function promptFingerprint(prompt: string): string {
  return sha256(prompt).slice(0, 16);
}

/** Case, accents, the form of characters, invisible ones and most white space make no other problem. */
export function normalisedPrompt(prompt: string): string {
  return OTHER_THAN_ASCII.test(prompt) ? normalisedUnicode(prompt) : normalisedAscii(prompt);
}

const OTHER_THAN_ASCII = /\P{ASCII}/u;

/** The same as below, several times as fast. */
export function normalisedAscii(prompt: string): string {
  const lower = prompt.toLowerCase();
  const even = ODD_SPACE.test(lower) ? lower.replace(/[\s\p{C}]+/gu, " ") : lower;
  return even.replace(/(?<![a-z0-9]) | (?![a-z0-9])/g, "");
}

/** Anything but a single space between other characters. */
const ODD_SPACE = / {2}|[^ -~]/;

/** What has no ink. Fillers and the empty Braille cell are as wide as a space, and count as one. */
const INVISIBLE = /(?![\u115f\u1160])[\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu;
const SPACE = /[\s\p{C}\u2800\u115f\u1160]+/gu;

/** Accents, strokes and the like. "≠" is "=" with a stroke and stays; so does the voicing of kana. */
const ACCENT = /(?!(?<=\p{Sm})\u0338|[\u3099\u309a])(?=\p{Script=Inherited})\p{M}/gu;
/** A mark of a script that the letter before it is not of. Marks of Hindi or Thai make other words. */
const STRAY_MARK =
  /(?<=^|[^\p{L}\p{M}]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])(?!(?<=\p{Sm})\u0338)\p{M}+/gu;

export function normalisedUnicode(prompt: string): string {
  return (
    prompt
      .normalize("NFKD")
      .toLowerCase()
      .normalize("NFKD")
      .replace(INVISIBLE, "")
      .replace(SPACE, " ")
      .replace(ACCENT, "")
      .replace(STRAY_MARK, "")
      // Marks stand in another order once nothing is between them.
      .normalize("NFKD")
      .replace(/ +/g, " ")
      // A space separates two words or two numbers, and nothing else: "2+2" is "2 + 2".
      .replace(/(?<![\p{L}\p{N}]) | (?![\p{L}\p{N}])/gu, "")
  );
}
