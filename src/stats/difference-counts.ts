/** Paired differences as a histogram: a million pass-or-fail pairs are three numbers. */

import { requireCount } from "./_checks.ts";
import type { BoundedUnit } from "./bounded-mean.ts";

/** Distinct values in ascending order, each with its count. */
export interface Histogram {
  readonly values: Float64Array;
  readonly counts: Float64Array;
}

export class DifferenceCounts {
  readonly #counts = new Map<number, number>();
  #pairs = 0;

  static of(differences: Iterable<number>): DifferenceCounts {
    const counted = new DifferenceCounts();
    for (const difference of differences) counted.add(difference);
    return counted;
  }

  add(difference: number, count = 1): void {
    if (!Number.isFinite(difference)) throw new RangeError(`a difference cannot be ${difference}`);
    requireCount("count", count);
    if (count === 0) return;
    this.#counts.set(difference, (this.#counts.get(difference) ?? 0) + count);
    this.#pairs += count;
  }

  /** Number of differences added. */
  get pairs(): number {
    return this.#pairs;
  }

  /** Number of different values among them. */
  get distinct(): number {
    return this.#counts.size;
  }

  /** How often exactly this difference was added. */
  count(difference: number): number {
    return this.#counts.get(difference) ?? 0;
  }

  /** Sorted, so that results do not depend on the order of the pairs. */
  histogram(): Histogram {
    const values = Float64Array.from(this.#counts.keys()).sort();
    return { values, counts: values.map((value) => this.count(value)) };
  }

  /** Every difference as a unit of weight 1. */
  units(): BoundedUnit[] {
    const { values, counts } = this.histogram();
    return [...values].map((change, i) => ({ change, weight: 1, count: counts[i] as number }));
  }

  /** Undefined without pairs. */
  mean(): number | undefined {
    return this.#pairs === 0 ? undefined : sumOf(this.histogram()) / this.#pairs;
  }

  /** The unbiased sample variance of one difference; undefined below two pairs. */
  variance(): number | undefined {
    const mean = this.mean();
    if (mean === undefined || this.#pairs < 2) return undefined;
    return sumOf(this.histogram(), (value) => (value - mean) ** 2) / (this.#pairs - 1);
  }
}

/** The sum over all pairs of their values, or of what `term` makes of them. */
export function sumOf({ values, counts }: Histogram, term = (value: number) => value): number {
  return values.reduce((sum, value, i) => sum + term(value) * (counts[i] as number), 0);
}
