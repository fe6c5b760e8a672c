/** The figure by which a failing run failed: its fix must make that figure better, beyond chance. */

import { isBetter, rises, SIGNIFICANT } from "./effect.ts";
import { standardError } from "./measured-difference.ts";
import { setting, type Training } from "./training.ts";

export interface Failed {
  /** How it failed: a sabotage, an alarm, or validation that fell. */
  readonly how: string;
  /** Name of the figure that shows it. */
  readonly figure: string;
  /** Whether the first run has a better figure than the second. */
  better(better: Training, worse: Training): boolean;
}

/** How a run failed; undefined for one that did not. */
export function failureOf({ manifest, records }: Training): Failed | undefined {
  const { alarms = [], evaluations } = records;
  const sabotage = setting(manifest, "sabotage") ?? null;
  if (sabotage !== null) return byReward(`sabotage ${sabotage}`);
  const alarm = alarms.find((one) => one.stops || Object.hasOwn(HARMFUL, one.alarm))?.alarm;
  if (alarm !== undefined) return byAlarm(alarm);
  return rises(evaluations.at(-1), evaluations[0]) ? byReward("validation fell") : undefined;
}

const byReward = (how: string): Failed => ({ how, figure: "reward", better: isBetter });

type Distance = (value: number, initial: number) => number;

/**
 * Alarms about another figure than the reward: the metric of each step, and how bad a value is, given the
 * one of the first step.
 */
const HARMFUL: Readonly<Record<string, readonly [metric: string, badness: Distance]>> = {
  length_drift: ["length/mean", (value, initial) => Math.abs(value - initial)],
  entropy_collapse: ["entropy", (value) => -value],
  kl_over_limit: ["kl/k3", (value) => value],
  repeated_outputs: ["repeated", (value) => value],
};

function byAlarm(how: string): Failed {
  const [metric, badness] = HARMFUL[how] ?? [];
  if (metric === undefined || badness === undefined) return byReward(how);
  return {
    how,
    figure: metric,
    better: (a, b) =>
      improves(lastBadness(b, metric, badness), lastBadness(a, metric, badness), a, b),
  };
}

/** Steps at the end of a run whose mean stands for it. */
const LAST_STEPS = 5;

function lastBadness({ records }: Training, metric: string, badness: Distance): number[] {
  const values = records.steps.flatMap((step) => step.values[metric] ?? []);
  const [initial = Number.NaN] = values;
  return values.slice(-LAST_STEPS).map((value) => badness(value, initial));
}

/** Less bad beyond chance, and not bought with the reward. */
function improves(
  before: readonly number[],
  after: readonly number[],
  better: Training,
  worse: Training,
): boolean {
  const [sa, sb] = [standardError(before), standardError(after)];
  if (sa === undefined || sb === undefined) return false;
  const fell = mean(before) - mean(after);
  return fell > SIGNIFICANT * Math.hypot(sa, sb) && !isBetter(worse, better);
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
