/** Whether two runs differ in a measure by more than chance. */

import { keptEvaluation, measuredOf, measuredSteps, pairedShift } from "../../curves/index.ts";
import type { TrainingRunRecords } from "../../runs/index.ts";
import { SIGNIFICANT } from "./effect.ts";

export function differBeyondChance(
  a: TrainingRunRecords,
  b: TrainingRunRecords,
  name: string,
): boolean {
  const [one, other] = [measuredOf(a, name), measuredOf(b, name)];
  if (one === undefined || other === undefined || one === other) return false;
  // Counted over the whole run, not sampled.
  if (name === "tokens") return true;
  if (name === "reward" || name === "pass_rate") return rewardsDiffer(a, b);
  const [sa, sb] = [a, b].map((run) => standardError(measuredSteps(run, METRICS[name] ?? name)));
  if (sa === undefined || sb === undefined) return false;
  return Math.abs(one - other) > SIGNIFICANT * Math.hypot(sa, sb);
}

/** The metric of training steps whose fluctuation stands for that of a measure. */
const METRICS: Readonly<Record<string, string>> = { length: "length/mean" };

function rewardsDiffer(a: TrainingRunRecords, b: TrainingRunRecords): boolean {
  const [before, after] = [keptEvaluation(a), keptEvaluation(b)];
  const shift = before && after && pairedShift([before], [after]);
  return shift !== undefined && Math.abs(shift.z) >= SIGNIFICANT;
}

/** Of the mean of some values; undefined for fewer than two. */
export function standardError(values: readonly number[]): number | undefined {
  const { length: n } = values;
  if (n < 2) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (n - 1) / n);
}
