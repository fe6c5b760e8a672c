/** The paired rows of a slice. */

import { dataError } from "../core/errors.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
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

/** The slice of a pair; the examples are the same, so one run with slices is enough. */
export function sliceOfPair(
  before: ResultRow,
  after: ResultRow,
  field: string,
): string | undefined {
  return after.slices?.[field] ?? before.slices?.[field];
}

/** Refuses a field that neither run has. */
export function requireSlices(field: string, ...runs: readonly Run[]): void {
  const has = ({ manifest: { settings } }: Run) =>
    Array.isArray(settings.slice) && settings.slice.includes(field);
  if (runs.some(has)) return;
  throw dataError(
    `neither run has slices by ${JSON.stringify(field)}`,
    `Evaluate one of them again with --slice ${field}.`,
  );
}
