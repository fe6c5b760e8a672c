/** Latencies of a rollout, for each completion and for each episode, as percentiles. */

import type { Latency, Timing } from "../runs/timing-schema.ts";
import { quantile } from "../stats/quantile.ts";

/** What this process sampled, and in how long. */
export interface Throughput {
  readonly tokens: number;
  readonly seconds: number;
}

export class LatencyTally {
  readonly #completions: number[] = [];
  readonly #episodes: number[] = [];

  /** The latencies of one example; an episode counts only if all of them were measured. */
  add(latencies: readonly (number | undefined)[]): void {
    const known = latencies.filter((ms) => ms !== undefined);
    for (const ms of known) this.#completions.push(ms);
    if (known.length > 0 && known.length === latencies.length)
      this.#episodes.push(known.reduce((a, b) => Math.max(a, b)));
  }

  /** The latencies of an episode's turns, which wait for each other. */
  addTurns(latencies: readonly (number | undefined)[]): void {
    const known = latencies.filter((ms) => ms !== undefined);
    this.#completions.push(...known);
    if (known.length > 0 && known.length === latencies.length)
      this.#episodes.push(known.reduce((a, b) => a + b));
  }

  /** Nothing where nothing was measured. */
  record(throughput: Throughput): { timing?: Timing } {
    if (this.#completions.length === 0) return {};
    const [completions, episodes] = [latencyOf(this.#completions), latencyOf(this.#episodes)];
    return { timing: { completions, episodes, ...throughput } };
  }
}

function latencyOf(values: readonly number[]): Latency {
  const sorted = Float64Array.from(values).sort();
  const at = (q: number) => (sorted.length === 0 ? 0 : quantile(sorted, q));
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    n: sorted.length,
    mean_ms: sorted.length === 0 ? 0 : sum / sorted.length,
    ...{ p50_ms: at(0.5), p90_ms: at(0.9), p99_ms: at(0.99), max_ms: at(1) },
  };
}
