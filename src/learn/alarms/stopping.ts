/**
 * When to stop: the divergence table. Validation says where the policy went, and the reward of training
 * is read over the same steps: what the two make together has a name.
 */

import { normalQuantile } from "../../stats/normal-quantile.ts";
import { mean } from "../parts/advantages.ts";
import type { EvaluationRecord } from "../records.ts";
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

/** First what validation does, then what the training reward does. */
export const TABLE: Readonly<Record<Direction, Readonly<Record<Direction, Entry>>>> = {
  up: {
    up: entry("healthy", "what is rewarded is what is wanted: continue"),
    flat: entry(
      "healthy",
      "validation improves, though the noisy reward does not show it: continue",
    ),
    down: entry(
      "undecided",
      "validation improves while the reward falls: do the scorers disagree?",
    ),
  },
  flat: {
    up: entry("converged", "more reward no longer makes a better policy: stop soon"),
    flat: entry("undecided", "nothing moves: the run is finished, or it never learned"),
    down: entry("undecided", "the reward falls and validation has not followed yet: wait, or stop"),
  },
  down: {
    up: entry("reward hacking", "reward is gained at the cost of what is wanted: stop"),
    flat: entry("undecided", "learning spoils the policy and gains no reward: stop"),
    down: entry("undecided", "learning spoils the policy: stop"),
  },
};

/** The evaluation with the highest mean reward; the earliest of equals. */
export function best(evaluations: readonly EvaluationRecord[]): EvaluationRecord | undefined {
  return evaluations.reduce<EvaluationRecord | undefined>(
    (top, next) => (top && top.reward_mean >= next.reward_mean ? top : next),
    undefined,
  );
}

/**
 * How many evaluations ago validation last rose by more than `delta`. Smaller gains do not move the
 * mark, so that many of them together still count once they pass it.
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
  /** By the scorers that reward, on the validation set. */
  readonly proxy: Move;
}

export interface ValidationMove extends PairedShift {
  readonly direction: Direction;
  /** The step of the evaluation that the last ones are compared with. */
  readonly since: number;
}

export interface Reading extends Entry {
  /** Both undefined while nothing can be said. */
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
      : entry("undecided", "too little has been seen");
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
  // Without the best one, whose luck would make the first half look good.
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
 * The best of many evaluations was also a lucky one, and each new evaluation is a new chance to look
 * bad beside it. So the last two must both be lower, and the level is shared among all the pairs of
 * evaluations that could have been compared by now (Bonferroni). With many examples even the to and fro
 * of a healthy policy would be significant, so the fall must stand out from that too.
 */
function isFall(
  shift: PairedShift,
  top: EvaluationRecord,
  evaluations: readonly EvaluationRecord[],
  { level, fall }: Limits,
): boolean {
  // At least eight, so that the first looks, with few pairs each, do not spend most of it.
  const looks = Math.max(8, evaluations.length);
  const z = normalQuantile(level / ((looks * (looks - 1)) / 2));
  const both = evaluations.slice(-2).every((last) => last.reward_mean <= top.reward_mean - fall);
  // Of one evaluation less the mean of two.
  const restless = Math.sqrt(1.5) * jitter(evaluations.map(({ reward_mean }) => reward_mean));
  return both && shift.z <= z && shift.mean <= z * restless;
}

/** Not merely "no rise was proved": a rise that matters is ruled out, and no fall is in sight. */
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
  // A fall has been proved already, and the reward only gives it its name.
  const needed = direction === "down" ? normalQuantile(1 - sure) : rewardTrend;
  const z = training?.z ?? 0;
  if (Math.max(z, proxy.z) >= needed) return { direction: "up", training, proxy };
  return { direction: z <= -needed ? "down" : "flat", training, proxy };
}

/** Rewards of single examples are not kept, but those within 0 and 1 vary at most by m (1 - m). */
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
