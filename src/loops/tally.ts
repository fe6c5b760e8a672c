/** Counts outcomes as rows go by. */

import { hasPassed, MISSING_COMPLETION, SCORER_ERROR } from "../core/score.ts";
import type { ResultRow, Summary } from "../runs/schemas.ts";
import { AxisMeans } from "../stats/axis-means.ts";
import { EpisodeMeans } from "../stats/episode-means.ts";
import { RateCounts } from "../stats/rate-counts.ts";
import { SliceRates } from "../stats/slice-rates.ts";

export class Tally {
  readonly counts: Record<string, number> = Object.create(null);
  readonly #rates = new RateCounts();
  readonly #slices = new SliceRates();
  readonly #axes = new AxisMeans();
  readonly #episodes = new EpisodeMeans();
  #klSum = 0;
  #klRows = 0;
  /** The first two rows of each code. */
  readonly #concrete = new Map<string, ResultRow[]>();

  add(row: ResultRow): void {
    const counted = { reward: row.reward, passed: hasPassed(row), sample: row.sample };
    this.#rates.add(counted);
    this.#slices.add(row.slices, counted);
    this.#axes.add(row.axes, row.sample);
    this.#episodes.add(row.episode);
    this.counts[row.outcome_code] = (this.counts[row.outcome_code] ?? 0) + 1;
    if (row.kl_est !== undefined) {
      this.#klSum += row.kl_est;
      this.#klRows++;
    }
    const shown = this.#concrete.get(row.outcome_code);
    if (!shown) this.#concrete.set(row.outcome_code, [row]);
    else if (shown.length < 2) shown.push(row);
  }

  get metrics(): Summary["metrics"] {
    const { scored, passed } = this.#rates;
    const ci = this.#rates.meanInterval();
    return {
      pass_rate: this.#rates.rate,
      pass_rate_ci95: this.#rates.interval(),
      mean_reward: this.#rates.meanReward,
      ...(ci && { mean_reward_ci95: ci }),
      mean_kl_est: this.#klRows === 0 ? null : this.#klSum / this.#klRows,
      n_examples: this.#rates.rows,
      n_scored: scored,
      n_pass: passed,
      n_fail: scored - passed,
      n_missing: this.counts[MISSING_COMPLETION] ?? 0,
      n_scorer_error: this.counts[SCORER_ERROR] ?? 0,
    };
  }

  /** With --slice: by field, the rates of its values. */
  get slices(): ReturnType<SliceRates["table"]> {
    return this.#slices.table();
  }

  /** With --axis: by name. */
  get axes(): ReturnType<AxisMeans["table"]> {
    return this.#axes.table();
  }

  /** Of rows that are episodes. */
  get episodes(): ReturnType<EpisodeMeans["table"]> {
    return this.#episodes.table();
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
    return (hasPassed(row) ? 1 : -1 / 2) - this.#count(row) / (this.#rates.rows + 1) / 2;
  }

  /** The numbers in a sentence. */
  get sentence(): string {
    const { pass_rate: rate, n_pass: passed, n_scored: scored, mean_reward: mean } = this.metrics;
    if (rate === null) return "nothing was scored";
    const [failure] = this.twoExamples;
    const worst =
      failure && !hasPassed(failure)
        ? `, commonest failure \`${failure.outcome_code}\` (${this.#count(failure)})`
        : "";
    return `pass_rate ${rate.toFixed(4)} (${passed} of ${scored}), mean_reward ${mean?.toFixed(4)}${worst}`;
  }

  #count(row: ResultRow): number {
    return this.counts[row.outcome_code] ?? 0;
  }
}
