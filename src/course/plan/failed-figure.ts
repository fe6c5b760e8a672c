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

/** Every way in which a run failed, the worst first; empty for one that did not. */
export function failuresOf({ manifest, records }: Training): readonly Failed[] {
  const { alarms = [], evaluations } = records;
  const sabotage = setting(manifest, "sabotage") ?? null;
  const fell = rises(evaluations.at(-1), evaluations[0]);
  const harmful = alarms.filter(({ stops, alarm }) => !stops && Object.hasOwn(HARMFUL, alarm));
  return [
    ...(sabotage === null ? [] : [byReward(`sabotage ${sabotage}`)]),
    ...alarms.filter(({ stops }) => stops).map(({ alarm }) => byAlarm(alarm)),
    ...(fell ? [byReward("validation fell")] : []),
    ...harmful.map(({ alarm }) => byAlarm(alarm)),
  ];
}

/** Whether a fix still fails: in its reward, or in the way that it should have fixed. */
export const stillFails = (fix: Training, failed: Failed) =>
  failuresOf(fix).some(({ figure, how }) => figure === REWARD || how === failed.how);

const REWARD = "reward";

const byReward = (how: string): Failed => ({ how, figure: REWARD, better: isBetter });

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
