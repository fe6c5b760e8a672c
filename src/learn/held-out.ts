/** What is learned from must not be what is measured on. */

import { dataError } from "../core/errors.ts";
import type { Examples } from "./sources/examples.ts";

export class HeldOutPrompts {
  readonly #known = new Map<string, Place>();

  constructor(sets: readonly Examples[]) {
    for (const [set, { list, input }] of sets.entries()) {
      for (const { id, prompt } of list) {
        const place = { id, file: input.path, set };
        const before = this.#known.get(problemOf(prompt));
        // The same file given twice overlaps with itself.
        if (before && before.set !== set) throw overlap(before, place);
        this.#known.set(problemOf(prompt), place);
      }
    }
  }

  /** Refuses a prompt that is learned from if it is measured on as well. */
  refuse(prompt: string, id: string, file: string): void {
    const found = this.#known.get(problemOf(prompt));
    if (found) throw overlap({ id, file }, found);
  }
}

interface Place {
  readonly id: string;
  readonly file: string;
  /** Which of the sets it belongs to. */
  readonly set?: number;
}

function overlap(one: Place, other: Place): Error {
  return dataError(
    `${one.file} and ${other.file} share an example: "${one.id}" is "${other.id}"`,
    "Take it out of one of them: a policy must not be measured on what it learned from, nor validated on what it is tested on.",
  );
}

/** Blanks, case and invisible characters make no other problem. */
function problemOf(prompt: string): string {
  return prompt
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s\p{C}]+/gu, "");
}
