/** pass@k from the samples of the rows: how many packs have so many samples, of which so many pass. */

import { passes } from "../../core/score.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { passAtK } from "../../stats/pass-at-k.ts";

export type PassAtK = { k: number; value: number; packs: number };

interface Pack {
  readonly size: number;
  readonly passed: number;
  packs: number;
}

export class PassCounts {
  readonly #packs = new Map<string, Pack>();

  add({ samples = [] }: ResultRow): void {
    const rewards = samples.map(({ reward }) => reward).filter((reward) => reward !== null);
    const [size, passed] = [rewards.length, rewards.filter(passes).length];
    if (size === 0) return;
    const pack = this.#packs.get(`${size} ${passed}`) ?? { size, passed, packs: 0 };
    pack.packs++;
    this.#packs.set(`${size} ${passed}`, pack);
  }

  /** Averaged over the packs that are large enough, in an order that is always the same. */
  get passAtK(): PassAtK[] {
    const packs = [...this.#packs.values()].sort((a, b) => a.size - b.size || a.passed - b.passed);
    return Array.from({ length: packs.at(-1)?.size ?? 0 }, (_, i) => {
      const large = packs.filter(({ size }) => size > i);
      const count = large.reduce((sum, one) => sum + one.packs, 0);
      const total = large.reduce(
        (sum, { size, passed, packs: n }) => sum + n * (passAtK(size, passed, i + 1) ?? 0),
        0,
      );
      return { k: i + 1, value: total / count, packs: count };
    });
  }
}
