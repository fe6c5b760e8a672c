/** Rates of slices: rows grouped by the values of fields. */

import { dataError } from "../core/errors.ts";
import type { Slices } from "../core/slices.ts";
import { RateCounts, type RateRow } from "./rate-counts.ts";

/** A field with more values than this does not group anything. */
export const MOST_SLICES = 1000;

export interface SliceRate {
  readonly value: string;
  readonly n_examples: number;
  readonly n_scored: number;
  readonly n_pass: number;
  readonly pass_rate: number | null;
  readonly pass_rate_ci95: [low: number, high: number] | null;
  readonly mean_reward: number | null;
  /** Of graded rewards. */
  readonly mean_reward_ci95?: [low: number, high: number] | undefined;
}

export class SliceRates {
  readonly #fields = new Map<string, Map<string, RateCounts>>();

  add(slices: Slices | undefined, row: RateRow): void {
    if (slices === undefined) return;
    for (const [field, value] of Object.entries(slices)) {
      const values = this.#fields.get(field) ?? new Map<string, RateCounts>();
      this.#fields.set(field, values);
      const counts = values.get(value) ?? new RateCounts();
      values.set(value, counts);
      counts.add(row);
      if (values.size > MOST_SLICES) {
        throw dataError(
          `the field ${JSON.stringify(field)} has more than ${MOST_SLICES} values`,
          "Slice by a field that groups examples, such as a topic.",
        );
      }
    }
  }

  /** By field, its values in their order; undefined without any. */
  table(): Record<string, SliceRate[]> | undefined {
    if (this.#fields.size === 0) return undefined;
    return Object.fromEntries(
      [...this.#fields].map(([field, values]) => [
        field,
        [...values]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([value, rates]) => rateOf(value, rates)),
      ]),
    );
  }
}

function rateOf(value: string, rates: RateCounts): SliceRate {
  const ci = rates.meanInterval();
  return {
    value,
    n_examples: rates.rows,
    n_scored: rates.scored,
    n_pass: rates.passed,
    pass_rate: rates.rate,
    pass_rate_ci95: rates.interval(),
    mean_reward: rates.meanReward,
    ...(ci && { mean_reward_ci95: ci }),
  };
}
