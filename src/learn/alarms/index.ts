/**
 * Alarms of a training run. After each step they check the recorded metrics and describe problems in
 * words and numbers. rates.test.ts measures the rate of false alarms. They have no state: the alarms
 * already raised are an argument.
 */

import type { Alarm } from "../../runs/train-records.ts";
import type { Check, History } from "./history.ts";
import { ruinousLearningRate } from "./learning-rate.ts";
import type { Limits } from "./limits.ts";
import { logprobMismatch, referenceAliased, samplingMismatch, zeroGradient } from "./mechanics.ts";
import { entropyCollapse, klOverLimit, lengthDrift, repeatedOutputs } from "./outputs.ts";
import { zeroReward } from "./reasons.ts";
import { repetitiveText } from "./repetition.ts";
import { learningBackwards, perfectScore, rewardJump, scorerFailures } from "./reward.ts";
import { divergence } from "./validation.ts";

export { ALARMS, type History } from "./history.ts";
export { LIMITS, type Limits } from "./limits.ts";

const CHECKS: readonly Check[] = [
  ...[scorerFailures, logprobMismatch, samplingMismatch, referenceAliased, zeroGradient],
  ...[zeroReward, ruinousLearningRate, learningBackwards, divergence, rewardJump, perfectScore],
  ...[repeatedOutputs, repetitiveText, entropyCollapse, lengthDrift, klOverLimit],
];

/** The new alarms at the last record. */
export function raisedBy(history: History, limits: Limits, raised: ReadonlySet<string>): Alarm[] {
  const step = Math.max(history.steps.at(-1)?.step ?? 0, history.evaluations.at(-1)?.step ?? 0);
  return CHECKS.map((check) => check(history, limits))
    .filter((finding) => finding !== undefined && !raised.has(finding.alarm))
    .map((finding) => ({ step, ...finding }) as Alarm);
}
