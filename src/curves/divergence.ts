/**
 * The directions of the validation reward and of the training reward over the same steps, and the cell
 * of the table of nine that they are in.
 */

import type { EvaluationRecord, StepRecord } from "../runs/train-records.ts";
import { normalQuantile } from "../stats/normal-quantile.ts";
import { DIVERGENCE_LIMITS, type DivergenceLimits } from "./divergence-limits.ts";
import { CELLS, type Cell, type Direction, type Verdict } from "./nine-cells.ts";
import { proxyChange } from "./proxy.ts";
import { jitter, mean, type PairedShift, pairedShift, trend } from "./trend.ts";

/** What a run has recorded, oldest first. */
export interface Curves {
  readonly steps: readonly StepRecord[];
  readonly evaluations: readonly EvaluationRecord[];
}

/** The evaluation with the highest mean reward; the earliest in a tie. */
export function bestEvaluation(
  evaluations: readonly EvaluationRecord[],
): EvaluationRecord | undefined {
  return evaluations.reduce<EvaluationRecord | undefined>(
    (top, next) => (top && top.reward_mean >= next.reward_mean ? top : next),
    undefined,
  );
}

interface Move {
  readonly from: number;
  readonly to: number;
  readonly z: number;
}

export interface RewardMove {
  readonly direction: Direction;
  /** Undefined in a run without rewards, or with too few steps. */
  readonly training: Move | undefined;
  /** Of the reward scorers on the validation set. */
  readonly proxy: Move;
}

export interface ValidationMove extends PairedShift {
  readonly direction: Direction;
  /** The step of the evaluation that the last ones are compared with. */
  readonly since: number;
}

export interface Reading {
  /** Undefined where too little is known of a direction. */
  readonly cell: Cell | undefined;
  readonly verdict: Verdict;
  /** Both undefined where the direction of validation is not established. */
  readonly validation: ValidationMove | undefined;
  readonly reward: RewardMove | undefined;
}

export function readDirections(
  curves: Curves,
  limits: DivergenceLimits = DIVERGENCE_LIMITS,
): Reading {
  const validation = validationMove(curves.evaluations, limits);
  const reward = validation && rewardMove(curves, validation, limits);
  const cell = validation && reward && CELLS[validation.direction][reward.direction];
  return { cell, verdict: cell?.verdict ?? "undecided", validation, reward };
}

function validationMove(
  evaluations: readonly EvaluationRecord[],
  limits: DivergenceLimits,
): ValidationMove | undefined {
  const [first] = evaluations;
  const top = bestEvaluation(evaluations);
  if (evaluations.length < 3 || !first || !top) return undefined;
  const last = evaluations.slice(-2);
  const later = evaluations.slice(evaluations.indexOf(top) + 1);
  if (later.length >= 2) {
    const fall = pairedShift([top], last);
    if (fall && isFall(fall, top, evaluations, limits))
      return { ...fall, direction: "down", since: top.step };
  }
  // Without the best one, which is biased upwards.
  const half = Math.floor(later.length / 2);
  const drift = pairedShift(later.slice(0, half), later.slice(later.length - half));
  if (drift && later.length >= limits.flatEvaluations && isFlat(drift, limits))
    return { ...drift, direction: "flat", since: later[0]?.step ?? top.step };
  const rise = pairedShift([first], last);
  if (rise && rise.mean >= limits.matters && rise.z >= normalQuantile(1 - limits.sure))
    return { ...rise, direction: "up", since: first.step };
  return undefined;
}

/**
 * The best of many evaluations is biased upwards, and each new evaluation is another test against it.
 * One low evaluation may be chance, so the last two must both be lower, and the level is corrected for all pairs of evaluations so far
 * (Bonferroni). With many examples even the normal fluctuation of a policy is significant, so the fall
 * must exceed that too.
 */
function isFall(
  shift: PairedShift,
  top: EvaluationRecord,
  evaluations: readonly EvaluationRecord[],
  { level, fall }: DivergenceLimits,
): boolean {
  const z = neededFall(evaluations.length, level);
  const both = evaluations.slice(-2).every((last) => last.reward_mean <= top.reward_mean - fall);
  // Standard deviation of one evaluation minus the mean of two.
  const restless = Math.sqrt(1.5) * jitter(evaluations.map(({ reward_mean }) => reward_mean));
  return both && shift.z <= z && shift.mean <= z * restless;
}

/** The z of a fall after so many evaluations, at a level that is corrected for all pairs of them. */
export function neededFall(evaluations: number, level: number): number {
  // At least eight, so that the first evaluations do not use up most of the level.
  const looks = Math.max(8, evaluations);
  return normalQuantile(level / ((looks * (looks - 1)) / 2));
}

/** A relevant rise is ruled out, and there is no sign of a fall. */
function isFlat({ mean, error }: PairedShift, { sure, matters }: DivergenceLimits): boolean {
  const margin = normalQuantile(1 - sure) * error;
  return mean + margin < matters && mean + margin >= 0;
}

function rewardMove(
  { steps, evaluations }: Curves,
  { direction, since }: ValidationMove,
  { window, trendSteps, rewardTrend, sure }: DivergenceLimits,
): RewardMove {
  const until = evaluations.at(-1)?.step ?? 0;
  const seen = steps.filter(({ step }) => step > since - window && step <= until);
  const values = seen
    .map((one) => one["reward/mean"])
    .filter((value): value is number => typeof value === "number");
  const [from, to] = [mean(values.slice(0, window)), mean(values.slice(-window))];
  const training = values.length < trendSteps ? undefined : { from, to, z: trend(values) };
  const proxy = proxyMove(evaluations, since);
  // The fall is established; the reward only classifies it.
  const needed = direction === "down" ? normalQuantile(1 - sure) : rewardTrend;
  // Without a trend of training, the same scorers on the validation set show the fall too.
  const z = training?.z ?? proxy.z;
  if (Math.max(z, proxy.z) >= needed) return { direction: "up", training, proxy };
  return { direction: z <= -needed ? "down" : "flat", training, proxy };
}

/** Rewards of single examples are not recorded; for rewards from 0 to 1 the variance is at most m (1 - m). */
function proxyMove(evaluations: readonly EvaluationRecord[], since: number): Move {
  const before = evaluations.filter(({ step }) => step === since);
  const last = evaluations.slice(-2);
  const { from, to } = proxyChange(before[0] as EvaluationRecord, last);
  const middle = (from + to) / 2;
  const variance = middle * (1 - middle) * (1 / sizeOf(before) + 1 / sizeOf(last));
  return { from, to, z: variance > 0 ? (to - from) / Math.sqrt(variance) : 0 };
}

function sizeOf(evaluations: readonly EvaluationRecord[]): number {
  return evaluations.reduce(
    (sum, { examples, judge }) => sum + (judge ? judge.groups - judge.dropped : examples),
    0,
  );
}
