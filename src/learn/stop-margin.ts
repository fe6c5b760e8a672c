/** How far a validation is above a baseline, with the lower end of a one-sided interval. */

import { mean, pairedShift } from "../curves/trend.ts";
import type { EvaluationRecord } from "../runs/train-records.ts";
import { flipInterval } from "../stats/margin.ts";
import { normalQuantile } from "../stats/normal-quantile.ts";
import { wilsonInterval } from "../stats/wilson.ts";

export const CONFIDENCE = 0.95;
/** Fewer examples show nothing with confidence. */
export const FEWEST_EXAMPLES = 20;
/** Of the two-sided interval whose lower end is the one-sided one. */
const TWO_SIDED = 2 * CONFIDENCE - 1;

export interface Above {
  readonly by: number;
  /** Lower end of the one-sided interval. */
  readonly low: number;
}

/**
 * Above the initial policy, paired by example. Undefined with too few examples, or without an interval:
 * rewards besides 0 and 1 whose changes have no spread.
 */
export function aboveStart(
  [first]: readonly EvaluationRecord[],
  last: EvaluationRecord,
): Above | undefined {
  const shift = first && pairedShift([first], [last]);
  if (!first || !shift || shift.examples < FEWEST_EXAMPLES) return undefined;
  const [before, now] = [first.rewards, last.rewards];
  if (!isPassOrFail([...before, ...now])) return normal(shift.mean, shift.error);
  const flips = (from: number) =>
    before.filter((reward, i) => reward === from && now[i] === 1 - from).length;
  const interval = flipInterval(flips(0), flips(1), shift.examples, TWO_SIDED);
  return interval && { by: shift.mean, low: interval.low };
}

/** Above a number, such as the reward of another model. */
export function aboveNumber({ rewards }: EvaluationRecord, baseline: number): Above | undefined {
  const scored = rewards.filter((reward) => reward !== null);
  if (scored.length < FEWEST_EXAMPLES) return undefined;
  const centre = mean(scored);
  if (isPassOrFail(scored)) {
    const passed = scored.filter((reward) => reward === 1).length;
    const interval = wilsonInterval(passed, scored.length, TWO_SIDED);
    return interval && { by: centre - baseline, low: interval[0] - baseline };
  }
  const squares = scored.reduce((sum, reward) => sum + (reward - centre) ** 2, 0);
  const error = Math.sqrt(squares / (scored.length - 1) / scored.length);
  return normal(centre - baseline, error);
}

/** A spread of 0 would make an interval of width 0, which a few equal rewards do not show. */
function normal(by: number, error: number): Above | undefined {
  return error > 0 ? { by, low: by - normalQuantile(CONFIDENCE) * error } : undefined;
}

function isPassOrFail(rewards: readonly (number | null)[]): boolean {
  return rewards.every((reward) => reward === null || reward === 0 || reward === 1);
}
