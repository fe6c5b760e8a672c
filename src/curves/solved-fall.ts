/**
 * Fewer validation tasks are solved while their mean reward rises: the reward of the environment is
 * had without solving its tasks. The directions of the rewards alone look healthy then.
 */

import type { EvaluationRecord } from "../runs/train-records.ts";
import { normalQuantile } from "../stats/normal-quantile.ts";
import { neededFall } from "./divergence.ts";
import { DIVERGENCE_LIMITS, type DivergenceLimits } from "./divergence-limits.ts";
import { jitter, mean, type PairedShift, pairedShift } from "./trend.ts";

export interface SolvedFall {
  /** The step of the evaluation that solved most. */
  readonly since: number;
  readonly examples: number;
  /** Pass rates: then, and of the last two evaluations. */
  readonly from: number;
  readonly to: number;
  readonly z: number;
  /** Of the rewards between the same evaluations. */
  readonly reward: PairedShift;
}

/** Compared as the validation reward is: the best evaluation with the last two, which must both be lower. */
export function solvedFall(
  evaluations: readonly EvaluationRecord[],
  { level, fall, sure }: DivergenceLimits = DIVERGENCE_LIMITS,
): SolvedFall | undefined {
  const rates = evaluations.map(({ pass_rate }) => pass_rate);
  const at = rates.indexOf(Math.max(...rates));
  const [top, last] = [evaluations[at], evaluations.slice(-2)];
  if (!top || evaluations.length < 3 || evaluations.length - 1 - at < 2) return undefined;
  const reward = pairedShift([top], last);
  if (!reward || reward.mean <= 0 || reward.z < normalQuantile(1 - sure)) return undefined;
  const [from, to] = [top.pass_rate, mean(last.map(({ pass_rate }) => pass_rate))];
  if (last.some(({ pass_rate }) => pass_rate > from - fall)) return undefined;
  const middle = (from + to) / 2;
  // Which tasks were solved is not recorded, so they are not paired; the last two count as one.
  const z = (to - from) / Math.sqrt((middle * (1 - middle) * 2) / top.examples);
  const needed = neededFall(evaluations.length, level);
  if (z > needed || to - from > needed * Math.sqrt(1.5) * jitter(rates)) return undefined;
  return { since: top.step, examples: top.examples, from, to, z, reward };
}
