/**
 * What the gate can see through a judge. Two policies are compared task by task, and the judge says
 * which attempt is better. If it is right with probability a, whichever of the two is better, it turns
 * a true difference D of win rates (better less worse) into (2a - 1) D: of the tasks that are won a
 * share a is counted as won and 1 - a as lost. To see (2a - 1) D as clearly as a perfect judge sees D,
 * the gate needs 1 / (2a - 1)² times as many tasks. Every task may be won or lost, so the spread of the
 * comparisons is taken at its largest.
 */

import type { GatePower, JudgeAudit } from "../runs/judge-audit-schema.ts";
import { minimumDetectableEffect, pairsForEffect } from "../stats/power.ts";

const SPREAD = { discordantShare: 1 } as const;

export interface GateQuestion {
  /** Tasks that the gate compares. */
  readonly tasks: number;
  /** The true difference of win rates that it should detect. */
  readonly difference: number;
  readonly alpha?: number;
  readonly power?: number;
}

export function gatePowerAt(accuracy: number, question: GateQuestion): GatePower {
  const { tasks, difference, alpha = 0.05, power = 0.8 } = question;
  const shrinkage = 2 * accuracy - 1;
  const seen = minimumDetectableEffect({ n: tasks, alpha, power, ...SPREAD });
  const smallest = seen === undefined || shrinkage <= 0 ? 2 : seen / shrinkage;
  const needed =
    shrinkage <= 0
      ? undefined
      : pairsForEffect({ effect: shrinkage * difference, alpha, power, ...SPREAD });
  return {
    accuracy,
    shrinkage,
    smallest_difference: smallest <= 1 ? smallest : null,
    tasks_needed: needed ?? null,
  };
}

/** The accuracy at which the difference is just detected on so many tasks; null above 1. */
export function accuracyNeededFor(question: GateQuestion): number | null {
  const { tasks, difference, alpha = 0.05, power = 0.8 } = question;
  const seen = minimumDetectableEffect({ n: tasks, alpha, power, ...SPREAD });
  if (seen === undefined || seen > difference) return null;
  return (1 + seen / difference) / 2;
}

export function gatePart(
  { value, interval }: JudgeAudit["measures"]["accuracy"],
  question: GateQuestion,
): JudgeAudit["gate"] {
  const { tasks, difference, alpha = 0.05, power = 0.8 } = question;
  return {
    ...{ tasks, difference, alpha, power },
    perfect: gatePowerAt(1, question),
    measured: value === null ? null : gatePowerAt(value, question),
    lower_bound: interval === null ? null : gatePowerAt(interval[0], question),
    accuracy_needed: accuracyNeededFor(question),
  };
}
