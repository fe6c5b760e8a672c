/** The key-value cache, which the decoder keeps outside of its graphs: a row for each place. */

import type { Architecture } from "./architecture.ts";

/** The keys and values of a text. */
export interface KeysAndValues {
  readonly length: number;
  /** In the order of `namesOf`, and for each by key head: [length, head size]. */
  readonly byHead: readonly (readonly Float32Array[])[];
}

export class Cache {
  /** How many rows are in use, and how many positions each of them has. */
  rows = 0;
  room = 0;
  /** The most positions of a row. */
  readonly capacity: number;
  readonly #architecture: Architecture;
  /** Keys and values of the first layer, of the second, and so on. */
  readonly #arrays: ReadonlyMap<string, Float32Array>;
  readonly #pairs: readonly Float64Array[];

  constructor(architecture: Architecture, rows: number, capacity: number) {
    this.capacity = capacity;
    this.#architecture = architecture;
    // The system allocates pages when they are first written, so unused capacity is free.
    const size = rows * architecture.keyHeads * capacity * architecture.headSize;
    this.#arrays = new Map(namesOf(architecture).map((name) => [name, new Float32Array(size)]));
    this.#pairs = [...this.#arrays.values()].map(pairsOf);
  }

  /** As the graphs read them: [rows, key heads, room, head size]. */
  get arrays(): Record<string, Float32Array> {
    const size = this.rows * this.#rowSize;
    const used = [...this.#arrays].map(([name, array]) => [name, array.subarray(0, size)]);
    return Object.fromEntries(used);
  }

  /**
   * Gives a row a new text. Later positions become 0: they have no weight, but what is there may not
   * be a number, and 0 times NaN is NaN.
   */
  put(row: number, { length, byHead }: KeysAndValues): void {
    const { headSize } = this.#architecture;
    const [size, step] = [length * headSize, this.room * headSize];
    let i = 0;
    for (const array of this.#arrays.values()) {
      let start = row * this.#rowSize;
      for (const numbers of byHead[i++] as readonly Float32Array[]) {
        array.set(numbers, start);
        array.fill(0, start + size, start + step);
        start += step;
      }
    }
  }

  move(from: number, to: number): void {
    const size = this.#rowSize;
    for (const array of this.#arrays.values()) {
      array.copyWithin(to * size, from * size, (from + 1) * size);
    }
  }

  /** All rows are empty, with no room yet. */
  begin(rows: number): void {
    this.rows = rows;
    this.room = 0;
  }

  /** Makes room for more positions, from the last head to the first; new positions are 0, see `put`. */
  widen(room: number): void {
    const { keyHeads, headSize } = this.#architecture;
    const [from, to] = [this.room * headSize, room * headSize];
    for (const array of from === 0 ? [] : this.#arrays.values()) {
      for (let head = this.rows * keyHeads - 1; head >= 0; head--) {
        array.copyWithin(head * to, head * from, (head + 1) * from);
        array.fill(0, head * to + from, (head + 1) * to);
      }
    }
    this.room = room;
  }

  /**
   * Writes each row's new key and value at its position; none if that is below 0. `fresh` holds those
   * of all layers: [layers × 2, rows, key heads × head size / 2] pairs.
   */
  append(fresh: Float64Array, positions: readonly number[]): void {
    const { keyHeads } = this.#architecture;
    const size = this.#architecture.headSize / 2;
    let block = 0;
    for (const kept of this.#pairs) {
      for (let row = 0; row < this.rows; row++) {
        const at = positions[row] as number;
        if (at < 0) continue;
        for (let head = row * keyHeads; head < (row + 1) * keyHeads; head++) {
          const [from, to] = [block + head * size, (head * this.room + at) * size];
          for (let k = 0; k < size; k++) kept[to + k] = fresh[from + k] as number;
        }
      }
      block += this.rows * keyHeads * size;
    }
  }

  get #rowSize(): number {
    const { keyHeads, headSize } = this.#architecture;
    return keyHeads * this.room * headSize;
  }
}

/** Of the keys and values of every layer. */
export function namesOf({ layers }: Architecture): string[] {
  return Array.from({ length: layers }, (_, i) => [`keys${i}`, `values${i}`]).flat();
}

/** The same memory, two numbers at a time: they are copied in half the time. The head size is even. */
export function pairsOf({ buffer, byteOffset, length }: Float32Array): Float64Array {
  return new Float64Array(buffer, byteOffset, length / 2);
}
