/** What an alarm looks at, and how it answers. */

import { mean } from "../parts/advantages.ts";
import type { Alarm, EvaluationRecord, StepRecord } from "../records.ts";
import type { Limits } from "./limits.ts";

/** Everything that a run has written so far, oldest first. */
export interface History {
  readonly steps: readonly StepRecord[];
  readonly evaluations: readonly EvaluationRecord[];
  readonly facts: {
    /** Whether the loss or the reward looks at a frozen reference policy. */
    readonly usesReference: boolean;
    /** The most tokens that a completion may have. */
    readonly maxTokens?: number;
  };
}

/** Causes before consequences: the order in which a reader needs them. */
export const ALARMS = [
  "scorer_failures",
  "logprob_mismatch",
  "sampling_mismatch",
  "reference_aliased",
  "zero_gradient",
  "learning_backwards",
  "reward_hacking",
  "validation_falls",
  "plateau",
  "converged",
  "reward_jump",
  "perfect_score",
  "repeated_outputs",
  "entropy_collapse",
  "length_drift",
  "kl_over_limit",
] as const;

export interface Finding extends Omit<Alarm, "step"> {
  readonly alarm: (typeof ALARMS)[number];
}

/** Looks at the end of a history; undefined when all is well, or when the metrics are not there. */
export type Check = (history: History, limits: Limits) => Finding | undefined;

/** The number of that name; a run writes only the metrics that it has. */
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

export interface Change {
  readonly start: number;
  readonly now: number;
}

/** The first steps against the last; undefined while the two windows overlap. */
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
 * The last evaluation, while it is news: at most one step has been made since. An evaluation looked at
 * again after every later step would have many chances of a false alarm in place of one.
 */
export function freshEvaluation({ steps, evaluations }: History): EvaluationRecord | undefined {
  const last = evaluations.at(-1);
  return last && last.step >= (steps.at(-2)?.step ?? 0) ? last : undefined;
}

/** The first evaluation against a fresh last one. */
export function evaluationChange(
  history: History,
  name: "entropy" | "length_mean" | "truncated" | "repeated",
): Change | undefined {
  const last = freshEvaluation(history);
  const first = history.evaluations[0];
  return last && first && first !== last ? { start: first[name], now: last[name] } : undefined;
}

/** Three digits are enough for a sentence. */
export function show(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function percent(share: number): string {
  return `${show(100 * share)} %`;
}
