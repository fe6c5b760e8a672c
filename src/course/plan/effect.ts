/** Whether one training run is better than another, beyond chance, on the same examples. */

import { pairedShift } from "../../curves/index.ts";
import type { TrainingRunRecords } from "../../runs/index.ts";
import { normalQuantile } from "../../stats/index.ts";
import { setting, type Training } from "./training.ts";
import { differences } from "./training-knobs.ts";

type EvaluationRecord = TrainingRunRecords["evaluations"][number];

/** Two-sided 5 %. */
export const SIGNIFICANT = normalQuantile(0.975);

/** The reward rose from one evaluation to another, paired by example. */
export function rises(
  before: EvaluationRecord | undefined,
  after: EvaluationRecord | undefined,
): boolean {
  const shift = before && after && pairedShift([before], [after]);
  return shift !== undefined && shift.z >= SIGNIFICANT;
}

/** Both runs must have been measured with the same examples and scorer. */
export const isBetter = (better: Training, worse: Training) =>
  rises(worse.records.evaluations.at(-1), better.records.evaluations.at(-1));

/** What differs between two runs besides the seed. */
export const causes = (a: Training, b: Training) =>
  differences(a, b).filter((name) => name !== "seed");

/**
 * What a third run shows about one thing that the fix changed; undefined where it shows nothing. With the
 * value of the fix it must be better than the failure, with that of the failure worse than the fix.
 */
export function shownBy(
  run: Training,
  failure: Training,
  fix: Training,
  better: (better: Training, worse: Training) => boolean,
): string | undefined {
  const changed = causes(failure, fix);
  const fixed = onlyDifference(run, failure);
  if (fixed !== undefined && changed.includes(fixed) && predicts("fix", fixed, run, failure, fix))
    if (better(run, failure)) return `${fixed} alone makes it better`;
  const undone = onlyDifference(run, fix);
  if (
    undone !== undefined &&
    changed.includes(undone) &&
    predicts("failure", undone, run, failure, fix)
  )
    if (better(fix, run)) return `it gets worse when ${undone} alone is undone`;
  return undefined;
}

/** Not the seed, which repeats a run. */
function onlyDifference(a: Training, b: Training): string | undefined {
  const [only, ...more] = differences(a, b);
  return more.length === 0 && only !== "seed" ? only : undefined;
}

/** Whether the value of the run is that of this side, or a number on its side of the other one. */
function predicts(
  side: "fix" | "failure",
  name: string,
  run: Training,
  failure: Training,
  fix: Training,
): boolean {
  const [near, far] = side === "fix" ? [fix, failure] : [failure, fix];
  if (!differences(run, near).includes(name)) return true;
  const [value, from, to] = [run, far, near].map(({ manifest }) => setting(manifest, name));
  if (typeof value !== "number" || typeof from !== "number" || typeof to !== "number") return false;
  return (value - from) * (to - from) > 0;
}
