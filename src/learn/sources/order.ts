/** Items in a seeded order, every one once in each epoch. */

import { rngAt } from "../../core/rng.ts";

export class SeededOrder {
  readonly #count: number;
  readonly #seed: number;
  readonly #what: string;
  /** Which epoch is at hand: an order takes a while to make. */
  #epoch = -1;
  #order: Uint32Array = new Uint32Array();

  constructor(count: number, seed: number, what: string) {
    this.#count = count;
    this.#seed = seed;
    this.#what = what;
  }

  /** The item at any place of the endless sequence. */
  at(index: number): number {
    const epoch = Math.floor(index / this.#count);
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#order = permutation(this.#count, this.#seed, this.#what, epoch);
    }
    return this.#order[index % this.#count] as number;
  }
}

export function permutation(
  count: number,
  seed: number,
  ...address: readonly (string | number)[]
): Uint32Array {
  const rng = rngAt(seed, "order of", ...address);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = rng.below(i + 1);
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}
