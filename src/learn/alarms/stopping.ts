/**
 * When to stop: the divergence table. It combines the direction of the validation reward with that of
 * the training reward over the same steps.
 */

import type { EvaluationRecord } from "../../runs/train-records.ts";
import { normalQuantile } from "../../stats/normal-quantile.ts";
import { mean } from "../parts/advantages.ts";
import { column, type History } from "./history.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { jitter, type PairedShift, pairedShift, trend } from "./statistics.ts";

export type Verdict = "healthy" | "converged" | "reward hacking" | "undecided";
export type Direction = "up" | "flat" | "down";

interface Entry {
  readonly verdict: Verdict;
  readonly words: string;
}

const entry = (verdict: Verdict, words: string): Entry => ({ verdict, words });

/** By the direction of validation, then of the training reward. */
export const TABLE: Readonly<Record<Direction, Readonly<Record<Direction, Entry>>>> = {
  up: {
    up: entry("healthy", "both rewards rise: continue"),
    flat: entry("healthy", "validation improves, the training reward does not show it: continue"),
    down: entry(
      "undecided",
      "validation improves while the reward falls: check whether the scorers disagree",
    ),
  },
  flat: {
    up: entry("converged", "more reward no longer improves the policy: stop soon"),
    flat: entry("undecided", "nothing changes: the run has converged or never learned"),
    down: entry("undecided", "the reward falls, validation does not yet: wait or stop"),
  },
  down: {
    up: entry("reward hacking", "the reward rises while validation falls: stop"),
    flat: entry("undecided", "validation falls and the reward does not rise: stop"),
    down: entry("undecided", "both rewards fall: stop"),
  },
};

/** The evaluation with the highest mean reward; the earliest in a tie. */
export function best(evaluations: readonly EvaluationRecord[]): EvaluationRecord | undefined {
  return evaluations.reduce<EvaluationRecord | undefined>(
    (top, next) => (top && top.reward_mean >= next.reward_mean ? top : next),
    undefined,
  );
}

/**
 * How many evaluations ago validation last rose by more than `delta`. Smaller gains add up until they
 * exceed it.
 */
export function sinceImproved(evaluations: readonly EvaluationRecord[], delta: number): number {
  let mark = Number.NEGATIVE_INFINITY;
  let at = 0;
  evaluations.forEach(({ reward_mean }, i) => {
    if (reward_mean <= mark + delta) return;
    mark = reward_mean;
    at = i;
  });
  return Math.max(0, evaluations.length - 1 - at);
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

export interface Reading extends Entry {
  /** Both undefined while there is too little data. */
  readonly validation: ValidationMove | undefined;
  readonly reward: RewardMove | undefined;
}

export function verdict(history: History, limits: Limits = LIMITS): Verdict {
  return read(history, limits).verdict;
}

export function read(history: History, limits: Limits = LIMITS): Reading {
  const validation = validationMove(history.evaluations, limits);
  const reward = validation && rewardMove(history, validation, limits);
  const found =
    validation && reward
      ? TABLE[validation.direction][reward.direction]
      : entry("undecided", "too little data");
  return { ...found, validation, reward };
}

function validationMove(
  evaluations: readonly EvaluationRecord[],
  limits: Limits,
): ValidationMove | undefined {
  const [first] = evaluations;
  const top = best(evaluations);
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
 * So the last two must both be lower, and the level is corrected for all pairs of evaluations so far
 * (Bonferroni). With many examples even the normal fluctuation of a policy is significant, so the fall
 * must exceed that too.
 */
function isFall(
  shift: PairedShift,
  top: EvaluationRecord,
  evaluations: readonly EvaluationRecord[],
  { level, fall }: Limits,
): boolean {
  // At least eight, so that the first evaluations do not use up most of the level.
  const looks = Math.max(8, evaluations.length);
  const z = normalQuantile(level / ((looks * (looks - 1)) / 2));
  const both = evaluations.slice(-2).every((last) => last.reward_mean <= top.reward_mean - fall);
  // Of one evaluation less the mean of two.
  const restless = Math.sqrt(1.5) * jitter(evaluations.map(({ reward_mean }) => reward_mean));
  return both && shift.z <= z && shift.mean <= z * restless;
}

/** A relevant rise is ruled out, and there is no sign of a fall. */
function isFlat({ mean, error }: PairedShift, { sure, matters }: Limits): boolean {
  const margin = normalQuantile(1 - sure) * error;
  return mean + margin < matters && mean + margin >= 0;
}

function rewardMove(
  { steps, evaluations }: History,
  { direction, since }: ValidationMove,
  { window, trendSteps, rewardTrend, sure }: Limits,
): RewardMove {
  const until = evaluations.at(-1)?.step ?? 0;
  const seen = steps.filter(({ step }) => step > since - window && step <= until);
  const values = column(seen, "reward/mean");
  const [from, to] = [mean(values.slice(0, window)), mean(values.slice(-window))];
  const training = values.length < trendSteps ? undefined : { from, to, z: trend(values) };
  const proxy = proxyMove(evaluations, since);
  // The fall is established; the reward only classifies it.
  const needed = direction === "down" ? normalQuantile(1 - sure) : rewardTrend;
  const z = training?.z ?? 0;
  if (Math.max(z, proxy.z) >= needed) return { direction: "up", training, proxy };
  return { direction: z <= -needed ? "down" : "flat", training, proxy };
}

/** Rewards of single examples are not recorded; for rewards from 0 to 1 the variance is at most m (1 - m). */
function proxyMove(evaluations: readonly EvaluationRecord[], since: number): Move {
  const before = evaluations.filter(({ step }) => step === since);
  const last = evaluations.slice(-2);
  const proxy = (records: typeof before) => mean(records.map(({ proxy_mean }) => proxy_mean));
  const [from, to] = [proxy(before), proxy(last)];
  const middle = (from + to) / 2;
  const variance = middle * (1 - middle) * (1 / sizeOf(before) + 1 / sizeOf(last));
  return { from, to, z: variance > 0 ? (to - from) / Math.sqrt(variance) : 0 };
}

function sizeOf(evaluations: readonly EvaluationRecord[]): number {
  return evaluations.reduce((sum, { examples }) => sum + examples, 0);
}
