/** A rule of a rubric, with what the embedded judge measures for it. */

import type { Attempt } from "./attempt.ts";

export interface Criterion {
  /** As a rubric has it. */
  readonly line: string;
  /** In explanations. */
  readonly short: string;
  /** 1 unless stated: how much it counts in the mean. */
  readonly weight?: number;
  /** Whether it needs nothing but the text, so that it holds for tasks that are not known. */
  readonly anyTask?: boolean;
  /** From 0 to 1, from this attempt alone: equal attempts have equal scores. */
  measure(attempt: Attempt): number;
}

export interface JudgedTask {
  readonly name: string;
  /** By the first message to the policy. */
  recognises(attempt: Attempt): boolean;
  /** The rules that a rubric for this task may have. */
  readonly catalogue: readonly Criterion[];
  /** What it goes by with the default rubric. */
  readonly goal: readonly Criterion[];
}
