/** Divides rows so that no example is on both sides: rows with an id or a prompt in common stay together. */

import { usageError } from "../core/errors.ts";
import { rngAt } from "../core/rng.ts";
import { contentHash } from "./content-hash.ts";

export interface SplitOptions {
  /** The share of rows for validation. */
  readonly share: number;
  readonly seed: number;
  /** Most rows for validation. */
  readonly most: number;
}

/** Collects rows in order, then says which go to validation. */
export class Split {
  /** For each key the number of a row that has it; for each row an earlier one of its group. */
  readonly #rowOf = new Map<string, number>();
  readonly #parent: number[] = [];
  readonly #names: string[] = [];

  add({ id, prompt }: { readonly id: string; readonly prompt: string }): void {
    const row = this.#parent.push(this.#parent.length) - 1;
    this.#names.push(id);
    const { high, low } = contentHash(prompt);
    for (const key of [`id ${id}`, `prompt ${high} ${low}`]) {
      const other = this.#rowOf.get(key);
      if (other === undefined) this.#rowOf.set(key, row);
      else this.#join(row, other);
    }
  }

  get rows(): number {
    return this.#parent.length;
  }

  #root(row: number): number {
    let root = row;
    while (this.#parent[root] !== root) root = this.#parent[root] as number;
    for (let at = row; at !== root; ) {
      const next = this.#parent[at] as number;
      this.#parent[at] = root;
      at = next;
    }
    return root;
  }

  /** The earlier row stays the root, so that a group is named by its first. */
  #join(one: number, other: number): void {
    const [a, b] = [this.#root(one), this.#root(other)];
    this.#parent[Math.max(a, b)] = Math.min(a, b);
  }

  /** For each row whether it is for validation. */
  decide({ share, seed, most }: SplitOptions): boolean[] {
    if (share === 0) return this.#parent.map(() => false);
    const sizes = new Map<number, number>();
    for (let row = 0; row < this.rows; row++) {
      const root = this.#root(row);
      sizes.set(root, (sizes.get(root) ?? 0) + 1);
    }
    const chosen = this.#chosen(
      sizes,
      Math.min(most, Math.max(1, Math.round(share * this.rows))),
      seed,
    );
    return this.#parent.map((_, row) => chosen.has(this.#root(row)));
  }

  /** Groups in a random order of the seed, as many as there is room for. */
  #chosen(sizes: ReadonlyMap<number, number>, room: number, seed: number): Set<number> {
    const order = [...sizes.keys()]
      .map((root) => ({ root, at: rngAt(seed, "tune-split", this.#names[root] as string).next() }))
      .sort((a, b) => a.at - b.at || a.root - b.root);
    const chosen = new Set<number>();
    let left = room;
    for (const { root } of order) {
      const size = sizes.get(root) as number;
      if (size > left || chosen.size === sizes.size - 1) continue;
      chosen.add(root);
      left -= size;
    }
    if (chosen.size > 0) return chosen;
    throw usageError(
      sizes.size < 2
        ? "all rows have an id or a prompt in common, so no validation rows can be set apart"
        : `no group of rows with a common id or prompt fits into ${room} validation rows`,
      "Give a larger --validation-share, or --validation-share 0 for no validation file.",
    );
  }
}
