/** Figures of a training run that can be traded off against each other. */

import { usageError } from "../core/errors.ts";
import type { TrainingRunRecords } from "../runs/read-training-run.ts";
import type { EvaluationRecord } from "../runs/train-records.ts";
import { tokensUsed } from "../runs/training-cost.ts";

export interface Measure {
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  /** Which direction is an improvement. */
  readonly better: "higher" | "lower";
}

interface ReadMeasure extends Measure {
  /** Undefined where the run does not have it. */
  read(run: TrainingRunRecords, kept: EvaluationRecord): number | undefined;
}

const measure = (
  [name, label, unit, better]: readonly [string, string, string, Measure["better"]],
  read: ReadMeasure["read"],
): ReadMeasure => ({ name, label, unit, better, read });

/** Of the kept policy on the validation set, and of the whole run. */
const FIXED: readonly ReadMeasure[] = [
  measure(["reward", "mean reward", "validation set", "higher"], (_, one) => one.reward_mean),
  measure(["pass_rate", "pass rate", "validation set", "higher"], (_, one) => one.pass_rate),
  measure(
    ["proxy_reward", "mean reward by the reward scorers", "validation set", "higher"],
    (_, one) => one.proxy_mean,
  ),
  measure(
    ["kl", "exact KL to the initial policy", "nats per token", "lower"],
    (_, one) => one.kl_exact ?? undefined,
  ),
  measure(["entropy", "entropy", "nats per token", "higher"], (_, one) => one.entropy),
  measure(["length", "completion length", "tokens", "lower"], (_, one) => one.length_mean),
  measure(["truncated", "truncated completions", "share", "lower"], (_, one) => one.truncated),
  measure(["tokens", "tokens sampled and trained on", "whole run", "lower"], (run) => {
    const { trained, sampled } = tokensUsed(run);
    return trained + sampled;
  }),
];

/** Steps up to the kept policy whose mean stands for it. */
const LAST_STEPS = 5;

/** A metric of metrics.jsonl: the reward of one of several scorers, or the mean cost. */
function metricMeasure(name: string): ReadMeasure | undefined {
  const part = /^reward\/(.+)$/.exec(name)?.[1];
  if (part === undefined && name !== "cost/mean") return undefined;
  const label = part === undefined ? "mean cost" : `mean reward by ${part}`;
  const better = part === undefined ? "lower" : "higher";
  return measure([name, label, `training, last ${LAST_STEPS} steps`, better], (run, { step }) => {
    const values = lastValues(run, name, step);
    if (values.length === 0) return undefined;
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  });
}

function lastValues(run: TrainingRunRecords, name: string, until: number): number[] {
  return run.steps
    .filter((one) => one.step <= until)
    .slice(-LAST_STEPS)
    .flatMap(({ values }) => (values[name] === undefined ? [] : [values[name]]));
}

/** The values of a metric at the steps whose mean is a measure. */
export function measuredSteps(run: TrainingRunRecords, name: string): readonly number[] {
  const kept = keptEvaluation(run);
  return kept === undefined ? [] : lastValues(run, name, kept.step);
}

/** A measure by its name, such as "kl", "reward/NAME" or "cost/mean". */
export function measureOf(name: string): Measure {
  return readable(name);
}

function readable(name: string): ReadMeasure {
  const found = FIXED.find((one) => one.name === name) ?? metricMeasure(name);
  if (found) return found;
  throw usageError(
    `there is no measure "${name}"`,
    `Choose one of ${FIXED.map((one) => one.name).join(", ")}, reward/NAME for the scorer NAME where there are several, or cost/mean.`,
  );
}

/** The evaluation of the policy that the run kept; the last one where that step has none. */
export function keptEvaluation({
  evaluations,
  summary,
}: Pick<TrainingRunRecords, "evaluations" | "summary">): EvaluationRecord | undefined {
  return evaluations.find(({ step }) => step === summary?.stop?.kept) ?? evaluations.at(-1);
}

/** The value of one measure of a run; undefined where the run does not have it. */
export function measuredOf(run: TrainingRunRecords, name: string): number | undefined {
  const kept = keptEvaluation(run);
  return kept && readable(name).read(run, kept);
}
