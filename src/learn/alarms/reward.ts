/** Alarms of the reward: scorer errors, a sudden jump, a suspiciously high reward. */

import { SCORER_ERROR } from "../../core/score.ts";
import { trend } from "../../curves/trend.ts";
import type { StepRecord } from "../../runs/train-records.ts";
import { mean } from "../parts/advantages.ts";
import {
  type Check,
  change,
  column,
  freshEvaluation,
  type History,
  metric,
  recent,
  show,
} from "./history.ts";
import { ruinousLearningRate } from "./learning-rate.ts";
import type { Limits } from "./limits.ts";

/** Rows on which the scorer failed have no reward, which is not a reward of 0. */
export const scorerFailures: Check = (history) => {
  const trained = history.steps.at(-1)?.outcomes;
  const validated = freshEvaluation(history)?.outcomes;
  const inTraining = trained?.[SCORER_ERROR] ?? 0;
  const inValidation = validated?.[SCORER_ERROR] ?? 0;
  if (inTraining + inValidation === 0) return undefined;
  const [of, outcomes] = inTraining > 0 ? ["training", trained] : ["validation", validated];
  const all = Object.values(outcomes ?? {}).reduce((sum, count) => sum + count, 0);
  const broken = inTraining || inValidation;
  return {
    alarm: "scorer_failures",
    stops: true,
    message: `The scorer failed on ${broken} of ${all} completions in ${of}. They have no reward and were left out of training. Find the cause with validate-scorer, fix the scorer, and run again.`,
    evidence: {
      scorer_errors_training: inTraining,
      scorer_errors_validation: inValidation,
      of: all,
    },
  };
};

/** The standard deviation of single rewards; 0.5 where it is not recorded. */
export function spread(steps: readonly StepRecord[]): number {
  const values = column(steps, "reward/std");
  return values.length > 0 ? mean(values) : 0.5;
}

/** A possible exploit: the reward jumps after a plateau. */
export const rewardJump: Check = ({ steps }, limits) => {
  const { jumpPlateau, jumpSteps, jumpErrors, jumpReward } = limits;
  const values = column(steps.slice(-4 * jumpPlateau), "reward/mean");
  if (values.length < jumpPlateau + jumpSteps) return undefined;
  const earlier = values.slice(0, -jumpSteps);
  const before = earlier.slice(-jumpPlateau);
  const after = values.slice(-jumpSteps);
  const level = mean(before);
  // From steps between neighbours, because twelve steps can understate the variance of the run.
  const squares = earlier.slice(1).map((value, i) => (value - (earlier[i] as number)) ** 2);
  const error = Math.sqrt((mean(squares) / 2) * (1 / jumpPlateau + 1 / jumpSteps));
  const size = mean(after) - level;
  const least = Math.max(jumpErrors * error, jumpReward * spread(steps.slice(-jumpSteps)));
  const rose = size > least && Math.min(...after) > Math.max(...before);
  // A reward that was already rising has not jumped.
  if (!rose || trend(before) > 1) return undefined;
  return {
    alarm: "reward_jump",
    stops: false,
    message: `After ${jumpPlateau} steps at about ${show(level)} the mean reward jumped to ${show(mean(after))}. Sudden jumps are typical of an exploit of the scorer. Compare the samples of the last steps with older ones.`,
    evidence: { before: level, after: mean(after), error },
  };
};

/** A suspiciously high reward. */
export const perfectScore: Check = (history, limits) => {
  const { judged } = history.facts;
  const evaluation = freshEvaluation(history);
  // Without labels an example passes where the judge prefers it to the initial policy's: no full mark.
  const counts = judged?.labelled !== false;
  const full =
    counts && evaluation?.pass_rate === 1 && evaluation.examples >= limits.perfectExamples;
  const inTraining = isPerfect(history, limits);
  if (!full && !inTraining) return undefined;
  const seen = inTraining
    ? `For ${limits.perfectSteps} steps the mean reward has been ${limits.perfect} or more.`
    : `All ${evaluation?.examples} validation examples pass.`;
  return {
    alarm: "perfect_score",
    stops: false,
    message: `${seen} ${judged && inTraining ? JUDGED_PERFECT : PERFECT}`,
    evidence: {
      reward_mean: recent(history.steps, "reward/mean", limits.perfectSteps),
      pass_rate: evaluation?.pass_rate,
    },
  };
};

const PERFECT =
  "Either the task is solved, or the scorer accepts wrong completions, or the answers leak into the prompts. Read samples, and test the scorer on wrong answers with validate-scorer.";
const JUDGED_PERFECT =
  "A judge compares the completions of a prompt, so that full marks for all of them mean that it no longer tells them apart: nothing more is learned, and the policy may have found what the judge always likes. Read samples, and test the judge with judge-audit.";

function isPerfect({ steps }: History, { perfect, perfectSteps }: Limits): boolean {
  const rewards = column(steps.slice(-perfectSteps), "reward/mean");
  const all = rewards.length === perfectSteps && rewards.every((reward) => reward >= perfect);
  return all && mostIsOne(steps);
}

/** Where rewards above 1 occur, 1 is not the maximum. */
function mostIsOne(steps: readonly StepRecord[]): boolean {
  return column(steps, "reward/max").every((most) => most <= 1);
}

/** Whether a training reward near 1 means that the task is solved: a judge only says what is better than what. */
export function fullMarkIsOne({ steps, facts }: History): boolean {
  return !facts.judged && mostIsOne(steps);
}

export const learningBackwards: Check = (history, limits) => {
  const { steps } = history;
  const loss = metric(steps[0], "reward/mean") === undefined;
  const name = loss ? "loss" : "reward/mean";
  const moved = change(steps, name, limits.window);
  // All rewards equal: the reward cannot fall any further.
  const ruined = !loss && recent(steps, "reward/std", limits.window) === 0;
  if (!moved || isExcused(history, limits, ruined)) return undefined;
  // It names the cause.
  if (ruinousLearningRate(history, limits)) return undefined;
  // The value of a policy-gradient loss has no meaning, so the loss counts only in runs without rewards.
  const worse = loss ? moved.now - moved.start : moved.start - moved.now;
  const least = loss
    ? limits.backwardsLoss * Math.abs(moved.start)
    : ruined
      ? limits.ruinedReward * spread(steps.slice(0, limits.window))
      : limits.backwardsReward * spread(steps);
  if (worse <= least) return undefined;
  const values = column(steps, name);
  const z = trend(values);
  if (!ruined && (loss ? z : -z) < limits.backwardsTrend) return undefined;
  return {
    alarm: "learning_backwards",
    stops: true,
    message: `${name} has ${loss ? "risen" : "fallen"}${ruined ? " until all rewards were equal" : " steadily"} since the first step, from ${show(moved.start)} to ${show(moved.now)} in ${values.length} steps (z = ${show(z)}). Probably a sign is wrong (${history.facts.advice?.sign ?? "of the loss, the advantage or the reward, or chosen and rejected are swapped"}), or the learning rate is much too high. Check the sign on one example by hand, then try a tenth of the learning rate.`,
    evidence: { metric: name, start: moved.start, now: moved.now, z, steps: values.length },
  };
};

function isExcused({ steps, evaluations }: History, limits: Limits, ruined: boolean): boolean {
  const late = steps.length > limits.backwardsWithin;
  // zero_gradient reports it.
  const still = !ruined && recent(steps, "gradient_norm", limits.window) === 0;
  // A constrained run trades reward for cost.
  const traded = (metric(steps.at(-1), "cost/lambda") ?? 0) > 0;
  // Batches may become harder; the validation set stays the same.
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  const kept = first && last && first !== last && last.reward_mean >= first.reward_mean;
  // A policy that never passed has kept nothing.
  const better = kept && last.reward_mean > 0;
  return late || still || traded || better === true;
}
