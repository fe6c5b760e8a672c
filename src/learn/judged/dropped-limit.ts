/** Groups without a verdict end a run where they are too many: the rest may be no fair sample. */

import { dataError } from "../../core/errors.ts";
import { DROPPED_LIMIT } from "../../core/judge.ts";
import type { EvaluationRecord, StepRecord } from "../../runs/train-records.ts";

/** The share is of at least so many groups, so that one failure in the first step ends no run. */
const LEAST_GROUPS = 20;

/** Throws where more groups stayed without a verdict than the limit allows, over the whole run. */
export function requireVerdicts(
  steps: readonly StepRecord[],
  evaluations: readonly EvaluationRecord[],
  limit = DROPPED_LIMIT,
): void {
  const total = (name: "groups" | "dropped") =>
    steps.reduce((sum, one) => sum + Number(one[`judge/${name}`] ?? 0), 0) +
    evaluations.reduce((sum, { judge }) => sum + (judge?.[name] ?? 0), 0);
  const [groups, dropped] = [total("groups"), total("dropped")];
  if (dropped <= limit * Math.max(groups, LEAST_GROUPS)) return;
  throw dataError(
    `the judge gave no verdict on ${dropped} of ${groups} groups, and the limit is ${limit} of them`,
    "Check the judge's endpoint, its limits and its answers, then go on with --resume; --judge-dropped-limit sets the limit.",
  );
}
