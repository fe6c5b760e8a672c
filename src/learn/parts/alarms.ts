/**
 * The watchman of a training run. After each step it looks at what the run has written and says, in
 * words and with numbers, what is wrong; how often runs with nothing wrong raise which alarm is measured
 * in alarm-rates.test.ts. It has no state: what it said before is given to it.
 */

import type { Alarm } from "../records.ts";
import { learningBackwards } from "./alarm-backwards.ts";
import type { Check, History } from "./alarm-history.ts";
import type { Limits } from "./alarm-limits.ts";
import {
  logprobMismatch,
  referenceAliased,
  samplingMismatch,
  zeroGradient,
} from "./alarm-mechanics.ts";
import { entropyCollapse, klOverLimit, lengthDrift, repeatedOutputs } from "./alarm-outputs.ts";
import { judgeFailures, perfectScore, rewardJump } from "./alarm-reward.ts";
import { divergence, plateau } from "./alarm-validation.ts";

export { ALARMS, type History } from "./alarm-history.ts";
export { LIMITS, type Limits } from "./alarm-limits.ts";

const CHECKS: readonly Check[] = [
  ...[judgeFailures, logprobMismatch, samplingMismatch, referenceAliased, zeroGradient],
  ...[learningBackwards, divergence, plateau, rewardJump, perfectScore],
  ...[repeatedOutputs, entropyCollapse, lengthDrift, klOverLimit],
];

/** The alarms that are due at the last record and not among those already raised. */
export function watch(history: History, limits: Limits, raised: ReadonlySet<string>): Alarm[] {
  const step = Math.max(history.steps.at(-1)?.step ?? 0, history.evaluations.at(-1)?.step ?? 0);
  return CHECKS.map((check) => check(history, limits))
    .filter((finding) => finding !== undefined && !raised.has(finding.alarm))
    .map((finding) => ({ step, ...finding }) as Alarm);
}
