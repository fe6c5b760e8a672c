/** The paired rows of a slice. */

import { DifferenceCounts } from "../stats/difference-counts.ts";

export class SliceEvidence {
  readonly differences = new DifferenceCounts();
  readonly flips = { gained: 0, lost: 0 };
  readonly #rewards = { before: 0, after: 0 };

  add(before: number, after: number): void {
    const change = after - before;
    this.differences.add(change);
    this.#rewards.before += before;
    this.#rewards.after += after;
    if (change !== 0) this.flips[change > 0 ? "gained" : "lost"]++;
  }

  get means(): { baseline: number; candidate: number } {
    const n = this.differences.pairs;
    return { baseline: this.#rewards.before / n, candidate: this.#rewards.after / n };
  }
}
