/** Which of two policies a judge preferred, task by task, and whether the environment agrees. */

import { mcnemarExact } from "../stats/mcnemar.ts";
import { wilsonInterval } from "../stats/wilson.ts";

export interface Preferences {
  /** Tasks on which the candidate's mean score is higher, the same, or lower. */
  readonly preferred: number;
  readonly tied: number;
  readonly not_preferred: number;
  /** Over tasks that are not tied; null where all are. */
  readonly win_rate: number | null;
  readonly win_rate_ci95: readonly [low: number, high: number] | null;
  /** Of the sign test, two-sided. */
  readonly p_value: number | null;
  /** Pairs of attempts at a task with different rewards of the environment; null where there are none. */
  readonly agreement: {
    readonly pairs: number;
    readonly agreed: number;
    /** The judge gave both the same score. */
    readonly tied: number;
    /** Somers' D: agreeing less disagreeing pairs, as a share of all that the rewards tell apart. */
    readonly somers_d: number;
  } | null;
}

export interface ScoredAttempt {
  readonly side: "baseline" | "candidate";
  readonly score: number;
  /** The environment's. */
  readonly reward: number | null;
}

/** Tolerance for rounding in a sum of scores. */
const SLACK = 1e-9;

export class PreferenceCount {
  readonly #tasks = { preferred: 0, tied: 0, not_preferred: 0 };
  readonly #pairs = { agreed: 0, tied: 0, against: 0 };

  /** The attempts of both sides at one task, as many of each. */
  add(attempts: readonly ScoredAttempt[]): void {
    const lead = attempts.reduce(
      (sum, { side, score }) => sum + (side === "candidate" ? score : -score),
      0,
    );
    this.#tasks[Math.abs(lead) < SLACK ? "tied" : lead > 0 ? "preferred" : "not_preferred"]++;
    for (const [i, one] of attempts.entries())
      for (const other of attempts.slice(i + 1)) this.#compare(one, other);
  }

  #compare(one: ScoredAttempt, other: ScoredAttempt): void {
    if (one.reward === null || other.reward === null || one.reward === other.reward) return;
    const judged = Math.sign(one.score - other.score);
    if (judged === 0) this.#pairs.tied++;
    else this.#pairs[judged === Math.sign(one.reward - other.reward) ? "agreed" : "against"]++;
  }

  found(): Preferences {
    const { preferred: won, not_preferred: lost } = this.#tasks;
    const decided = won + lost;
    const { agreed, tied, against } = this.#pairs;
    const pairs = agreed + tied + against;
    const interval = wilsonInterval(won, decided) ?? null;
    return {
      ...this.#tasks,
      win_rate: decided === 0 ? null : won / decided,
      win_rate_ci95: interval,
      p_value: decided === 0 ? null : mcnemarExact(won, lost),
      agreement: pairs === 0 ? null : { pairs, agreed, tied, somers_d: (agreed - against) / pairs },
    };
  }
}
