/** The conditions of the settings `stop`: whether one is met after a step, and in what words. */

import { bestEvaluation } from "../curves/divergence.ts";
import { STOP_CONDITIONS, type StopCondition } from "../runs/stop-reasons.ts";
import type { EvaluationRecord, StepRecord } from "../runs/train-records.ts";
import { column, percent, show } from "./alarms/history.ts";
import { mean } from "./parts/advantages.ts";
import type { StopSettings } from "./settings/stop.ts";
import { aboveNumber, aboveStart, CONFIDENCE } from "./stop-margin.ts";

/** Why a run ends before its last step. */
export interface Stop {
  readonly reason: string;
  readonly message: string;
}

export interface RunSoFar {
  readonly steps: readonly StepRecord[];
  readonly evaluations: readonly EvaluationRecord[];
  /** Of updates and validations. */
  readonly seconds: number;
}

/** Validations without improvement that a plateau has at least, however far apart they are. */
const FEWEST_VALIDATIONS = 3;
const MILLION = 1_000_000;

type Condition = (run: RunSoFar, stop: StopSettings) => string | undefined;

const CONDITIONS: Readonly<Record<StopCondition, Condition>> = {
  target({ evaluations, steps }, { target }) {
    const last = newest(evaluations, steps);
    if (target === null || !last || last.reward_mean < target) return undefined;
    return `The validation reward is ${show(last.reward_mean)} on ${last.examples} examples, at or above the target of ${show(target)}.`;
  },

  margin({ evaluations, steps }, { margin, baseline }) {
    const last = newest(evaluations, steps);
    if (margin === null || !last) return undefined;
    const above = baseline === null ? aboveStart(evaluations, last) : aboveNumber(last, baseline);
    if (!above || above.low <= margin) return undefined;
    const than = baseline === null ? "the initial policy" : `the baseline of ${show(baseline)}`;
    return `The validation reward is ${show(above.by)} above ${than}, and above it by more than ${show(margin)} with ${percent(CONFIDENCE)} confidence (${show(above.low)} at least).`;
  },

  plateau({ evaluations, steps }, { plateau }) {
    const last = newest(evaluations, steps);
    if (!plateau || !last) return undefined;
    const at = lastImprovement(evaluations, plateau.delta);
    const since = evaluations.length - 1 - at;
    const improved = evaluations[at];
    if (!improved || last.step - improved.step < plateau.steps || since < FEWEST_VALIDATIONS)
      return undefined;
    const top = bestEvaluation(evaluations) ?? improved;
    const loss = last.loss === undefined ? "" : ", and the held-out loss has not fallen";
    return `Validation has not improved for ${last.step - improved.step} steps (${since} validations; limit ${plateau.steps} steps)${loss}. The best is that of step ${top.step}: pass rate ${percent(top.pass_rate)}, mean reward ${show(top.reward_mean)}.`;
  },

  reward_plateau({ steps, evaluations }, { reward_plateau: plateau }) {
    if (!plateau || steps.length < 2 * plateau.steps) return undefined;
    // A judge's scores are relative within a group, so that their mean need not rise while the policy improves.
    const improved = evaluations[lastImprovement(evaluations, plateau.delta)]?.step ?? 0;
    if (improved > (steps.at(-1)?.step ?? 0) - plateau.steps) return undefined;
    const rewards = column(steps.slice(-2 * plateau.steps), "reward/mean");
    if (rewards.length < 2 * plateau.steps) return undefined;
    const [before, now] = [rewards.slice(0, plateau.steps), rewards.slice(plateau.steps)].map(mean);
    if (before === undefined || now === undefined || now - before > plateau.delta) return undefined;
    return `The mean training reward of the last ${plateau.steps} steps is ${show(now)}, and that of the ${plateau.steps} before was ${show(before)}: it has not risen by more than ${show(plateau.delta)}.`;
  },

  tokens({ steps }, { tokens }) {
    const used = tokensOf(steps);
    if (tokens === null || used < tokens) return undefined;
    return `The updates have sampled and trained on ${used} tokens; the budget is ${tokens}.`;
  },

  money({ steps }, { money, price }) {
    const cost = (tokensOf(steps) / MILLION) * (price ?? 0);
    if (money === null || cost < money) return undefined;
    return `${tokensOf(steps)} tokens at ${show(price ?? 0)} a million cost ${show(cost)}; the budget is ${show(money)}.`;
  },

  seconds({ seconds: spent }, { seconds }) {
    if (seconds === null || spent < seconds) return undefined;
    return `The time budget of ${show(seconds)} ${seconds === 1 ? "second" : "seconds"} is spent. How many steps it allows depends on the machine, so this run cannot be repeated exactly.`;
  },
};

/** The first condition that is met after the last step. */
export function stopOf(run: RunSoFar, stop: StopSettings): Stop | undefined {
  for (const reason of STOP_CONDITIONS) {
    const message = CONDITIONS[reason](run, stop);
    if (message !== undefined) return { reason, message };
  }
  return undefined;
}

/** The evaluation of the last step; later steps do not check it again. */
function newest(
  evaluations: readonly EvaluationRecord[],
  steps: readonly StepRecord[],
): EvaluationRecord | undefined {
  const last = evaluations.at(-1);
  return last && last.step > 0 && last.step === steps.at(-1)?.step ? last : undefined;
}

/**
 * The evaluation that was the last to improve: the mean reward rose above all before by more than
 * delta, or the held-out loss fell below all before. Smaller rises add up until they exceed delta.
 */
function lastImprovement(evaluations: readonly EvaluationRecord[], delta: number): number {
  let [reward, loss, at] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  evaluations.forEach((one, i) => {
    const isBetter = one.reward_mean > reward + delta;
    const isLower = one.loss !== undefined && one.loss < loss;
    if (isBetter) reward = one.reward_mean;
    if (isLower) loss = one.loss as number;
    if (isBetter || isLower) at = i;
  });
  return at;
}

function tokensOf(steps: readonly StepRecord[]): number {
  return steps.reduce(
    (sum, { tokens, sampled_tokens: sampled }) => sum + Number(tokens) + Number(sampled ?? 0),
    0,
  );
}
