/** Which prompt a row answers, and which prompts are the same problem. */

import { sha256 } from "./fingerprint.ts";

/** Of a prompt's exact text, short enough to stand in every row. */
export function promptFingerprint(prompt: string): string {
  return sha256(prompt).slice(0, 16);
}

/** Case, the form of characters, invisible ones and most white space make no different problem. */
export function normalisedPrompt(prompt: string): string {
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
