/** Which prompt a row answers, and which prompts are the same problem. */

import { sha256 } from "./fingerprint.ts";

/** Of a prompt's exact text, short enough to stand in every row. */
export function promptFingerprint(prompt: string): string {
  return sha256(prompt).slice(0, 16);
}

/** Case, the form of characters, invisible ones and most white space make no different problem. */
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

export function normalisedUnicode(prompt: string): string {
  return (
    prompt
      .normalize("NFKC")
      .toLowerCase()
      .normalize("NFKC")
      .replace(/\p{Cf}+/gu, "")
      .replace(/[\s\p{C}]+/gu, " ")
      // A space separates two words or two numbers, and nothing else: "2+2" is "2 + 2".
      .replace(/(?<![\p{L}\p{N}]) | (?![\p{L}\p{N}])/gu, "")
  );
}
