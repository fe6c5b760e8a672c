/** Counts outcomes as rows go by. */

import { MISSING_COMPLETION, passes, SCORER_ERROR } from "../core/score.ts";
import type { ResultRow, Summary } from "../runs/schemas.ts";
import { wilsonInterval } from "../stats/wilson.ts";

export class Tally {
  readonly counts: Record<string, number> = Object.create(null);
  #examples = 0;
  #scored = 0;
  #passed = 0;
  #rewardSum = 0;
  #klSum = 0;
  #klRows = 0;
  /** The first two rows of each code. */
  readonly #concrete = new Map<string, ResultRow[]>();

  add(row: ResultRow): void {
    this.#examples++;
    this.counts[row.outcome_code] = (this.counts[row.outcome_code] ?? 0) + 1;
    if (row.reward !== null) {
      this.#scored++;
      this.#rewardSum += row.reward;
      if (passes(row.reward)) this.#passed++;
    }
    if (row.kl_est !== undefined) {
      this.#klSum += row.kl_est;
      this.#klRows++;
    }
    const shown = this.#concrete.get(row.outcome_code);
    if (!shown) this.#concrete.set(row.outcome_code, [row]);
    else if (shown.length < 2) shown.push(row);
  }

  get metrics(): Summary["metrics"] {
    const scored = this.#scored;
    return {
      pass_rate: scored === 0 ? null : this.#passed / scored,
      pass_rate_ci95: wilsonInterval(this.#passed, scored) ?? null,
      mean_reward: scored === 0 ? null : this.#rewardSum / scored,
      mean_kl_est: this.#klRows === 0 ? null : this.#klSum / this.#klRows,
      n_examples: this.#examples,
      n_scored: scored,
      n_pass: this.#passed,
      n_fail: scored - this.#passed,
      n_missing: this.counts[MISSING_COMPLETION] ?? 0,
      n_scorer_error: this.counts[SCORER_ERROR] ?? 0,
    };
  }

  /** One row of each of the two commonest failures, or the next best there is. */
  get twoExamples(): ResultRow[] {
    const byCode = [...this.#concrete.values()].sort(
      ([a], [b]) => this.#rank(a as ResultRow) - this.#rank(b as ResultRow),
    );
    const firsts = byCode.map(([row]) => row as ResultRow);
    return [...firsts, ...byCode.flatMap((rows) => rows.slice(1))].slice(0, 2);
  }

  /** Failures before passes, common before rare. */
  #rank(row: ResultRow): number {
    return (passes(row.reward) ? 1 : -1 / 2) - this.#count(row) / (this.#examples + 1) / 2;
  }

  /** The numbers in a sentence. */
  get sentence(): string {
    const { pass_rate: rate, n_pass: passed, n_scored: scored, mean_reward: mean } = this.metrics;
    if (rate === null) return "nothing was scored";
    const [failure] = this.twoExamples;
    const worst =
      failure && !passes(failure.reward)
        ? `, commonest failure \`${failure.outcome_code}\` (${this.#count(failure)})`
        : "";
    return `pass_rate ${rate.toFixed(4)} (${passed} of ${scored}), mean_reward ${mean?.toFixed(4)}${worst}`;
  }

  #count(row: ResultRow): number {
    return this.counts[row.outcome_code] ?? 0;
  }
}
