/** What a training used: tokens from its metrics, seconds by phase from its timing. */

import type { TrainingRunRecords } from "./read-training-run.ts";

/** In the order of a step. */
export const PHASES = ["sampling", "scoring", "logprobs", "updating", "evaluating"] as const;
export type Phase = (typeof PHASES)[number];

export interface TokensUsed {
  readonly trained: number;
  readonly sampled: number;
}

export function tokensUsed({ steps }: Pick<TrainingRunRecords, "steps">): TokensUsed {
  const total = (name: string) => steps.reduce((sum, { values }) => sum + (values[name] ?? 0), 0);
  return { trained: total("tokens"), sampled: total("sampled_tokens") };
}

export function secondsByPhase({
  timing,
}: Pick<TrainingRunRecords, "timing">): Record<Phase, number> {
  const total = (phase: Phase) => timing.reduce((sum, row) => sum + row[`${phase}_s`], 0);
  return Object.fromEntries(PHASES.map((phase) => [phase, total(phase)])) as Record<Phase, number>;
}

export function totalSeconds(run: Pick<TrainingRunRecords, "timing">): number {
  const seconds = secondsByPhase(run);
  return PHASES.reduce((sum, phase) => sum + seconds[phase], 0);
}

/** What a judge was asked in updates and validations. */
export interface JudgeUsed {
  readonly groups: number;
  /** Without a verdict. */
  readonly dropped: number;
  /** Tokens. */
  readonly prompt: number;
  readonly completion: number;
  /** At the price that the run was given; null where it was given none. */
  readonly dollars: number | null;
}

/** Undefined where no judge rewards. */
export function judgeUsed({
  manifest,
  steps,
  evaluations,
}: Pick<TrainingRunRecords, "manifest" | "steps" | "evaluations">): JudgeUsed | undefined {
  if (!manifest.judge) return undefined;
  const total = (name: "groups" | "dropped" | "prompt_tokens" | "completion_tokens") =>
    steps.reduce((sum, { values }) => sum + (values[`judge/${name}`] ?? 0), 0) +
    evaluations.reduce((sum, { judge }) => sum + (judge?.[name] ?? 0), 0);
  const [prompt, completion] = [total("prompt_tokens"), total("completion_tokens")];
  const { price } = manifest.judge;
  return {
    ...{ groups: total("groups"), dropped: total("dropped"), prompt, completion },
    dollars: price && (prompt * price.prompt + completion * price.completion) / 1_000_000,
  };
}
