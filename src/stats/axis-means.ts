/** Means of the axes of a run, with intervals and counts of their codes. */

import { SCORER_ERROR } from "../core/score.ts";
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

  add({ reward, code }: Scores[string], sample: number | undefined): void {
    this.#codes[code] = (this.#codes[code] ?? 0) + 1;
    this.#rates.add({ reward, passed: reward === 1, sample });
  }

  summary(): AxisSummary {
    return {
      mean: this.#rates.meanReward,
      ci95: this.#rates.graded ? this.#rates.meanInterval() : this.#rates.interval(),
      scored: this.#rates.scored,
      errors: this.#codes[SCORER_ERROR] ?? 0,
      codes: { ...this.#codes },
    };
  }
}
