/**
 * Paired differences in clusters, such as rows with the same prompt. Rows of a cluster are not
 * independent, so tests and intervals resample whole clusters.
 */

import type { BoundedUnit } from "./bounded-mean.ts";
import { DifferenceCounts, sumOf } from "./difference-counts.ts";

export class ClusterCounts {
  /** By size of the cluster, the sums of the differences in it. */
  readonly #bySize = new Map<number, DifferenceCounts>();
  #clusters = 0;
  #rows = 0;
  #squares = 0;

  /** A cluster of `size` rows whose differences add up to `sum`. */
  add(sum: number, size: number): void {
    if (!Number.isSafeInteger(size) || size < 1)
      throw new RangeError(`a cluster cannot have ${size} rows`);
    const sums = this.#bySize.get(size) ?? new DifferenceCounts();
    sums.add(sum);
    this.#bySize.set(size, sums);
    this.#clusters++;
    this.#rows += size;
    this.#squares += size * size;
  }

  get clusters(): number {
    return this.#clusters;
  }

  get rows(): number {
    return this.#rows;
  }

  /** The rows of the largest cluster. */
  get largest(): number {
    return Math.max(0, ...this.#bySize.keys());
  }

  /** Kish's effective number (1965): as many independent rows would weigh the clusters evenly. */
  get effective(): number {
    return this.#clusters === 0 ? 0 : this.#rows ** 2 / this.#squares;
  }

  /** The mean difference of a row; undefined without clusters. */
  mean(): number | undefined {
    return this.#clusters === 0 ? undefined : sumOf(this.sums().histogram()) / this.#rows;
  }

  /** The sum of each cluster, for a test of the sign. */
  sums(): DifferenceCounts {
    const all = new DifferenceCounts();
    for (const { histogram } of this.#sorted())
      histogram.values.forEach((sum, i) => {
        all.add(sum, histogram.counts[i] as number);
      });
    return all;
  }

  /**
   * One value for each cluster, whose mean is the mean difference of a row and whose spread is that
   * of the mean: (sum - mean · size) · clusters / rows + mean, the linearised ratio of sum to size.
   * For clusters of one size it is sum / size.
   */
  influences(): DifferenceCounts {
    const all = new DifferenceCounts();
    const mean = this.mean() ?? 0;
    const scale = this.#clusters / this.#rows;
    for (const { size, histogram } of this.#sorted())
      histogram.values.forEach((sum, i) => {
        all.add((sum - mean * size) * scale + mean, histogram.counts[i] as number);
      });
    return all;
  }

  /** The clusters by their change and their share of the largest one, for a test of the mean of a row. */
  units(): BoundedUnit[] {
    const { largest } = this;
    return this.#sorted().flatMap(({ size, histogram: { values, counts } }) =>
      [...values].map((sum, i) => ({
        change: sum / largest,
        weight: size / largest,
        count: counts[i] as number,
      })),
    );
  }

  /** In a fixed order, so that results do not depend on that of the rows. */
  #sorted() {
    return [...this.#bySize]
      .sort(([a], [b]) => a - b)
      .map(([size, sums]) => ({ size, histogram: sums.histogram() }));
  }
}
