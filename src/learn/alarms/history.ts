/** The input and output of an alarm. */

import type { Alarm, EvaluationRecord, StepRecord } from "../../runs/train-records.ts";
import { mean } from "../parts/advantages.ts";
import type { Advice } from "./advice.ts";
import type { Limits } from "./limits.ts";

/** Everything that the run has recorded so far, oldest first. */
export interface History {
  readonly steps: readonly StepRecord[];
  readonly evaluations: readonly EvaluationRecord[];
  readonly facts: {
    /** Whether the loss or the reward uses a frozen reference policy. */
    readonly usesReference: boolean;
    /** The maximum number of tokens of a completion. */
    readonly maxTokens?: number;
    /** Whether the initial policy is random weights, which nothing needs to stay near. */
    readonly scratch?: boolean;
    /** False where advantages do not compare the completions of a prompt. */
    readonly grouped?: boolean;
    /** The learning rate, and the algorithm's default. */
    readonly rate?: { readonly peak: number; readonly usual: number };
    /** Where a judge rewards: whether validation goes by labels, or by the judge's comparison with the initial policy. */
    readonly judged?: { readonly labelled: boolean } | undefined;
    /** What may be advised; undefined where the algorithm is not known. */
    readonly advice?: Advice;
  };
}

/** Ordered from causes to consequences. */
export const ALARMS = [
  "scorer_failures",
  "logprob_mismatch",
  "sampling_mismatch",
  "reference_aliased",
  "zero_gradient",
  "zero_reward",
  "ruinous_learning_rate",
  "learning_backwards",
  "reward_hacking",
  "validation_falls",
  "converged",
  "reward_jump",
  "perfect_score",
  "repeated_outputs",
  "repetitive_text",
  "entropy_collapse",
  "length_drift",
  "kl_over_limit",
] as const;

export interface Finding extends Omit<Alarm, "step"> {
  readonly alarm: (typeof ALARMS)[number];
}

/** Checks the end of a history; undefined when nothing is wrong or the metrics are missing. */
export type Check = (history: History, limits: Limits) => Finding | undefined;

/** The metric of that name, if the run has it. */
export function metric(record: StepRecord | undefined, name: string): number | undefined {
  const value = record?.[name];
  return typeof value === "number" ? value : undefined;
}

/** One metric of the steps that have it. */
export function column(steps: readonly StepRecord[], name: string): number[] {
  return steps.map((step) => metric(step, name)).filter((value) => value !== undefined);
}

/** The mean of the last `count` steps; undefined unless all of them have the metric. */
export function recent(
  steps: readonly StepRecord[],
  name: string,
  count: number,
): number | undefined {
  const values = column(steps.slice(-count), name);
  return values.length === count ? mean(values) : undefined;
}

/** Rows that these steps compared with the reference; infinite where a step compared all of them. */
export function comparedRows(steps: readonly StepRecord[]): number {
  return steps.reduce((rows, step) => rows + (metric(step, "kl/rows") ?? Infinity), 0);
}

export interface Change {
  readonly start: number;
  readonly now: number;
}

/** The first steps and the last; undefined while the two windows overlap. */
export function change(
  steps: readonly StepRecord[],
  name: string,
  window: number,
): Change | undefined {
  if (steps.length < 2 * window) return undefined;
  const start = recent(steps.slice(0, window), name, window);
  const now = recent(steps, name, window);
  return start === undefined || now === undefined ? undefined : { start, now };
}

/**
 * The last evaluation if it is new: at most one step old. Testing it again after every later step
 * would multiply the chance of a false alarm.
 */
export function freshEvaluation({ steps, evaluations }: History): EvaluationRecord | undefined {
  const last = evaluations.at(-1);
  return last && last.step >= (steps.at(-2)?.step ?? 0) ? last : undefined;
}

/** The first evaluation and a new last one. */
export function evaluationChange(
  history: History,
  name: "entropy" | "length_mean" | "truncated" | "repeated" | "repetition",
): Change | undefined {
  const last = freshEvaluation(history);
  const first = history.evaluations[0];
  if (!last || first === last) return undefined;
  const [start, now] = [first?.[name], last[name]];
  return start === undefined || now === undefined ? undefined : { start, now };
}

/** With three digits. */
export function show(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function percent(share: number): string {
  return `${show(100 * share)} %`;
}
