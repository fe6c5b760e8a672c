/** Prompts of the held-out sets: training data that holds any of them is refused, with file and line. */

import { dataError } from "../../core/errors.ts";
import { normalisedPrompt } from "../../core/prompt-fingerprint.ts";
import type { Examples } from "./examples.ts";

interface Place {
  readonly id: string;
  /** `file:line` */
  readonly place: string;
}

/** A row that is held out, and the row that it repeats. */
interface Shared {
  readonly one: Place;
  readonly other: Place;
}

export class HeldOutPrompts {
  readonly #known = new Map<string, Place>();

  constructor(sets: readonly Examples[]) {
    for (const set of sets) {
      const shared = sharedRows(set, this.#known);
      if (shared[0]) throw overlap(shared[0], shared.length, set.list.length, set.name);
      // After all of them: a set may repeat a prompt of its own.
      for (const [i, { id, prompt }] of set.list.entries()) {
        this.#known.set(normalisedPrompt(prompt), { id, place: set.places[i] as string });
      }
    }
  }

  /** The held-out row that has this prompt. */
  find(prompt: string): Place | undefined {
    return this.#known.size > 0 ? this.#known.get(normalisedPrompt(prompt)) : undefined;
  }

  /** Refuses training examples that are in a held-out set. */
  refuse(set: Examples): void {
    const shared = sharedRows(set, this.#known);
    if (shared[0]) throw overlap(shared[0], shared.length, set.list.length, set.name);
  }
}

function sharedRows(set: Examples, known: ReadonlyMap<string, Place>): Shared[] {
  if (known.size === 0) return [];
  return set.list.flatMap(({ id, prompt }, i) => {
    const other = known.get(normalisedPrompt(prompt));
    return other ? [{ one: { id, place: set.places[i] as string }, other }] : [];
  });
}

/** Of the first row that is in both; `count` of the file's rows are. */
export function overlap({ one, other }: Shared, count: number, rows: number, file: string): Error {
  const all = `${count} of ${rows} rows of ${file} ${count === 1 ? "is" : "are"} held out`;
  return dataError(
    `${one.place} and ${other.place} share an example: "${one.id}" is "${other.id}" (${all})`,
    "Remove them from one of the files: training, validation and test data must not overlap.",
  );
}
