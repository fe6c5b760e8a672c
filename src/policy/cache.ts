/** The key-value cache, which the decoder keeps outside of its graphs. */

import type { Architecture } from "./architecture.ts";

export class Cache {
  /** How many positions of each row it holds now, and how many at most. */
  places = 0;
  readonly capacity: number;
  readonly #architecture: Architecture;
  /** By the graphs' names: keys and values of the first layer, of the second, and so on. */
  readonly #arrays: ReadonlyMap<string, Float32Array>;
  /** Each row has its key heads one after the other. */
  readonly #heads: number;

  constructor(architecture: Architecture, batch: number, capacity: number) {
    const { layers, keyHeads, headSize } = architecture;
    this.capacity = capacity;
    this.#architecture = architecture;
    this.#heads = batch * keyHeads;
    const names = Array.from({ length: layers }, (_, i) => [`keys${i}`, `values${i}`]).flat();
    // The system allocates pages when they are first written, so unused capacity is free.
    const size = this.#heads * capacity * headSize;
    this.#arrays = new Map(names.map((name) => [name, new Float32Array(size)]));
  }

  /** As the graphs read them: [batch, key heads, places, head size]. */
  get arrays(): Record<string, Float32Array> {
    const size = this.#heads * this.places * this.#architecture.headSize;
    const used = [...this.#arrays].map(([name, array]) => [name, array.subarray(0, size)]);
    return Object.fromEntries(used);
  }

  /** Positions after a row's own have weight 0, but 0 times NaN is NaN. */
  clear(): void {
    const { headSize } = this.#architecture;
    for (const array of this.#arrays.values()) {
      array.fill(0, 0, this.#heads * this.places * headSize);
    }
  }

  /** Copies the results of `readPrompts`, [prompts, key heads, length, head size], to the rows. */
  fill(
    read: Readonly<Record<string, Float32Array>>,
    promptOf: readonly number[],
    length: number,
  ): void {
    const { keyHeads, headSize } = this.#architecture;
    this.places = length;
    for (const [name, array] of this.#arrays) {
      copyRows(read[name] as Float32Array, array, promptOf, keyHeads * length * headSize);
    }
  }

  /** Makes room for more positions, from the last head to the first; new positions are 0, see `clear`. */
  widen(places: number): void {
    const { headSize } = this.#architecture;
    const [from, to] = [this.places * headSize, places * headSize];
    for (const array of this.#arrays.values()) {
      for (let head = this.#heads - 1; head >= 0; head--) {
        array.copyWithin(head * to, head * from, (head + 1) * from);
        array.fill(0, head * to + from, (head + 1) * to);
      }
    }
    this.places = places;
  }

  /**
   * Writes each row's new key and value at its position; none if that is below 0. `fresh` holds those
   * of all layers: [layers × 2, batch, key heads × head size]. Copying in pairs (the head size is even)
   * takes half the time.
   */
  append(fresh: Float32Array, positions: readonly number[]): void {
    const { keyHeads } = this.#architecture;
    const size = this.#architecture.headSize / 2;
    const pairs = pairsOf(fresh);
    let block = 0;
    for (const array of this.#arrays.values()) {
      const kept = pairsOf(array);
      for (let row = 0; row < positions.length; row++) {
        const at = positions[row] as number;
        if (at < 0) continue;
        for (let head = row * keyHeads; head < (row + 1) * keyHeads; head++) {
          const [from, to] = [block + head * size, (head * this.places + at) * size];
          for (let k = 0; k < size; k++) kept[to + k] = pairs[from + k] as number;
        }
      }
      block += this.#heads * size;
    }
  }
}

/** Copies to each row of `to` a row of `from`, of `width` numbers. */
export function copyRows(
  from: Float32Array,
  to: Float32Array,
  rowOf: readonly number[],
  width: number,
): void {
  for (const [row, at] of rowOf.entries()) {
    to.set(from.subarray(at * width, (at + 1) * width), row * width);
  }
}

function pairsOf({ buffer, byteOffset, length }: Float32Array): Float64Array {
  return new Float64Array(buffer, byteOffset, length / 2);
}

/** The shortest step; from 128 tokens on, steps are an eighth to a quarter of the length. */
const STEP = 16;

/** The next length that graphs are made for: 32 of them up to 8,192. */
export function stepLength(length: number): number {
  const step = Math.max(STEP, 2 ** Math.floor(Math.log2(Math.max(length - 1, 1))) / 4);
  return Math.max(step, Math.ceil(length / step) * step);
}
