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
