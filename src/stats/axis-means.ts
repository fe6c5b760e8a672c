/** Means of the axes of a run, with intervals and counts of their codes. */

import { SCORER_ERROR } from "../core/score.ts";
import { normalQuantile } from "./normal-quantile.ts";
import { RateCounts } from "./rate-counts.ts";

export interface AxisSummary {
  readonly mean: number | null;
  readonly ci95: [low: number, high: number] | null;
  readonly scored: number;
  readonly errors: number;
  readonly codes: Record<string, number>;
}

type Scores = Readonly<Record<string, { readonly reward: number | null; readonly code: string }>>;

export class AxisMeans {
  readonly #axes = new Map<string, AxisCounts>();

  /** Samples of one example follow each other. */
  add(scores: Scores | undefined, sample: number | undefined): void {
    if (scores === undefined) return;
    for (const name of Object.keys(scores)) {
      const counts = this.#axes.get(name) ?? new AxisCounts();
      this.#axes.set(name, counts);
      counts.add(scores[name] as Scores[string], sample);
    }
  }

  /** By name in their order; undefined without any. */
  table(): Record<string, AxisSummary> | undefined {
    if (this.#axes.size === 0) return undefined;
    const sorted = [...this.#axes].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, counts]) => [name, counts.summary()]));
  }
}

class AxisCounts {
  readonly #codes: Record<string, number> = Object.create(null);
  readonly #rates = new RateCounts();
  readonly #clusters = new ClusterSums();
  #binary = true;

  add({ reward, code }: Scores[string], sample: number | undefined): void {
    this.#codes[code] = (this.#codes[code] ?? 0) + 1;
    this.#rates.add({ reward, passed: reward === 1, sample });
    if ((sample ?? 0) === 0) this.#clusters.next();
    if (reward === null) return;
    if (reward !== 0 && reward !== 1) this.#binary = false;
    this.#clusters.add(reward);
  }

  summary(): AxisSummary {
    return {
      mean: this.#rates.meanReward,
      ci95: this.#binary ? this.#rates.interval() : this.#clusters.interval(),
      scored: this.#rates.scored,
      errors: this.#codes[SCORER_ERROR] ?? 0,
      codes: { ...this.#codes },
    };
  }
}

/** The normal interval of a mean over clusters: the samples of one example are not independent. */
class ClusterSums {
  #open = { sum: 0, size: 0 };
  #clusters = 0;
  #rows = 0;
  #sum = 0;
  #squares = 0;
  #products = 0;
  #sizes = 0;

  add(reward: number): void {
    this.#open.sum += reward;
    this.#open.size++;
  }

  interval(): [low: number, high: number] | null {
    this.next();
    const [n, rows] = [this.#clusters, this.#rows];
    if (n < 2) return null;
    const mean = this.#sum / rows;
    const squares = this.#squares - 2 * mean * this.#products + mean * mean * this.#sizes;
    const error = Math.sqrt(Math.max(0, (squares * n) / (n - 1))) / rows;
    const half = normalQuantile(0.975) * error;
    return [mean - half, mean + half];
  }

  /** Ends the present cluster. */
  next(): void {
    const { sum, size } = this.#open;
    if (size === 0) return;
    this.#open = { sum: 0, size: 0 };
    this.#clusters++;
    this.#rows += size;
    this.#sum += sum;
    this.#squares += sum * sum;
    this.#products += sum * size;
    this.#sizes += size * size;
  }
}
