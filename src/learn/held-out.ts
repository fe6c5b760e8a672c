/** Training prompts must not be among those of the validation or test set. */

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

  /** Refuses a training prompt that is in a held-out set. */
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
    "Remove it from one of them: training, validation and test data must not overlap.",
  );
}

/** White space, case and invisible characters do not make a different problem. */
function problemOf(prompt: string): string {
  return prompt
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s\p{C}]+/gu, "");
}
