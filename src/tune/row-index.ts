/** Inputs that were met, each with its answer and its line, at 32 to 64 bytes each. */

import type { ContentHash } from "./content-hash.ts";

/** Words of an entry: two of the input, one of the answer, the line. */
const WORDS = 4;

export interface Met {
  readonly line: number;
  readonly answer: number;
}

export class RowIndex {
  #table = new Uint32Array(WORDS * 1024);
  #size = 0;

  /** The entry with this input; where there is none, this becomes it. */
  add({ high, low }: ContentHash, answer: ContentHash | undefined, line: number): Met | undefined {
    if (this.#size * 2 * WORDS > this.#table.length) this.#grow();
    const at = find(this.#table, high, low);
    const known = this.#table[at + 3] as number;
    if (known !== 0) return { line: known, answer: this.#table[at + 2] as number };
    this.#table.set([high, low, answer?.low ?? 0, line], at);
    this.#size++;
    return undefined;
  }

  /** The line of the entry with this input. */
  lineOf({ high, low }: ContentHash): number | undefined {
    return this.#table[find(this.#table, high, low) + 3] || undefined;
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#table.length);
    for (let i = 0; i < this.#table.length; i += WORDS) {
      if (this.#table[i + 3] === 0) continue;
      const [high, low] = [this.#table[i] as number, this.#table[i + 1] as number];
      larger.set(this.#table.subarray(i, i + WORDS), find(larger, high, low));
    }
    this.#table = larger;
  }
}

/** Where the entry stands or belongs; lines begin with 1, so 0 is an empty place. */
function find(table: Uint32Array, high: number, low: number): number {
  const mask = table.length / WORDS - 1;
  let slot = high & mask;
  for (;;) {
    const at = WORDS * slot;
    if (table[at + 3] === 0 || (table[at] === high && table[at + 1] === low)) return at;
    slot = (slot + 1) & mask;
  }
}
