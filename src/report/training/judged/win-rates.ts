/** The win rate against the initial policy at a validation: by the judge, and by the labels. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../../runs/train-records.ts";
import { winRateInterval } from "../../../stats/win-rate.ts";
import { comparePaired } from "../evaluations.ts";

export interface MeasuredRate {
  /** A tie counts as half. */
  readonly rate: number;
  readonly n: number;
  /** Undefined for the initial policy itself. */
  readonly interval: readonly [number, number] | undefined;
}

/** Over the tasks with a verdict; undefined where no judge rewards. */
export function judgeWinRate({ judge, step }: EvaluationRecord): MeasuredRate | undefined {
  return judge && measured(judge.win_rate, judge.groups - judge.dropped, step);
}

/** By the rewards of each task at both validations; undefined where there are no labels. */
export function labelWinRate(
  { evaluations: [start] }: TrainingRunRecords,
  one: EvaluationRecord,
): MeasuredRate | undefined {
  const { labels, examples } = one;
  if (!labels) return undefined;
  const paired = start?.step === 0 ? comparePaired(start, one) : undefined;
  return paired && one !== start
    ? { rate: paired.rate.share, n: examples, interval: paired.rate.interval }
    : measured(labels.win_rate, examples, one.step);
}

/** The initial policy is compared with itself: there is nothing to estimate. */
const measured = (rate: number, n: number, step: number): MeasuredRate => ({
  ...{ rate, n, interval: step === 0 ? undefined : winRateInterval(rate, n) },
});
