/** Counts the episodes of a rollout: outcomes, rewards, turns, metrics. */

import { isSolved } from "../core/score.ts";
import type { RolloutFailure, Trajectory } from "../core/trajectory.ts";
import type { RolloutEpisodes } from "../runs/rollout-schemas.ts";

export class EpisodeTally {
  readonly #solved: readonly string[];
  readonly #codes = new Map<string, number>();
  readonly #metrics = new Map<string, { sum: number; n: number }>();
  readonly #n = { n: 0, n_solved: 0, n_without_reward: 0, n_truncated: 0 };
  readonly #turns = { total: 0, most: 0 };
  #rewards = 0;

  /** `solved` are the codes of a solved task. */
  constructor(solved: readonly string[]) {
    this.#solved = solved;
  }

  add({ code, reward, terminated, metrics, messages }: Trajectory): void {
    const turns = messages.filter(({ role }) => role === "assistant").length;
    count(this.#codes, code);
    this.#n.n++;
    if (isSolved({ reward, code }, this.#solved)) this.#n.n_solved++;
    if (!terminated) this.#n.n_truncated++;
    if (reward === null) this.#n.n_without_reward++;
    else this.#rewards += reward;
    this.#turns.total += turns;
    this.#turns.most = Math.max(this.#turns.most, turns);
    for (const [name, value] of Object.entries(metrics)) {
      const { sum, n } = this.#metrics.get(name) ?? { sum: 0, n: 0 };
      this.#metrics.set(name, { sum: sum + value, n: n + 1 });
    }
  }

  summary(failed: readonly RolloutFailure[]): RolloutEpisodes {
    const { n, n_solved, n_without_reward } = this.#n;
    const rewarded = n - n_without_reward;
    const failures = new Map<string, number>();
    for (const { type } of failed) count(failures, type);
    const means = [...this.#metrics].map(([name, one]) => [name, one.sum / one.n] as const);
    return {
      ...this.#n,
      n_failed: failed.length,
      failures: Object.fromEntries(failures),
      pass_rate: rewarded === 0 ? null : n_solved / rewarded,
      reward_mean: rewarded === 0 ? null : this.#rewards / rewarded,
      codes: Object.fromEntries(this.#codes),
      turns: { ...this.#turns, mean: this.#turns.total / n },
      metrics: Object.fromEntries(means),
    };
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
