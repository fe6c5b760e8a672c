/** Alarms of the reward: it leaps, is too good, or is no reward at all. */

import { SCORER_ERROR } from "../../core/score.ts";
import { mean } from "../parts/advantages.ts";
import type { StepRecord } from "../records.ts";
import { type Check, column, freshEvaluation, type History, recent, show } from "./history.ts";
import type { Limits } from "./limits.ts";
import { trend } from "./statistics.ts";

/** A broken scorer is never a zero: what it could not judge must not teach. */
export const scorerFailures: Check = (history) => {
  const trained = history.steps.at(-1)?.outcomes;
  const judged = freshEvaluation(history)?.outcomes;
  const inTraining = trained?.[SCORER_ERROR] ?? 0;
  const inValidation = judged?.[SCORER_ERROR] ?? 0;
  if (inTraining + inValidation === 0) return undefined;
  const [of, outcomes] = inTraining > 0 ? ["training", trained] : ["validation", judged];
  const all = Object.values(outcomes ?? {}).reduce((sum, count) => sum + count, 0);
  const broken = inTraining || inValidation;
  return {
    alarm: "scorer_failures",
    stops: true,
    message: `The scorer broke on ${broken} of ${all} completions in ${of}. They have no reward, which is not a reward of 0, and what was learned without them is not what was asked for. Find the cause with validate-scorer, mend the scorer, and run again.`,
    evidence: {
      scorer_errors_training: inTraining,
      scorer_errors_validation: inValidation,
      of: all,
    },
  };
};

/** How far single rewards lie apart, whatever their scale; without word of it, as a coin's 0 and 1. */
export function spread(steps: readonly StepRecord[]): number {
  const values = column(steps, "reward/std");
  return values.length > 0 ? mean(values) : 0.5;
}

/** A trick found: the reward leaps after it had stood still. */
export const rewardJump: Check = ({ steps }, limits) => {
  const { jumpPlateau, jumpSteps, jumpErrors, jumpReward } = limits;
  const values = column(steps.slice(-4 * jumpPlateau), "reward/mean");
  if (values.length < jumpPlateau + jumpSteps) return undefined;
  const earlier = values.slice(0, -jumpSteps);
  const before = earlier.slice(-jumpPlateau);
  const after = values.slice(-jumpSteps);
  const level = mean(before);
  // From steps between neighbours, because twelve steps can look calmer than the run is.
  const squares = earlier.slice(1).map((value, i) => (value - (earlier[i] as number)) ** 2);
  const error = Math.sqrt((mean(squares) / 2) * (1 / jumpPlateau + 1 / jumpSteps));
  const size = mean(after) - level;
  const least = Math.max(jumpErrors * error, jumpReward * spread(steps.slice(-jumpSteps)));
  const rose = size > least && Math.min(...after) > Math.max(...before);
  // A reward that was rising already has not jumped, only gone on.
  if (!rose || trend(before) > 1) return undefined;
  return {
    alarm: "reward_jump",
    stops: false,
    message: `After ${jumpPlateau} steps about ${show(level)} the mean reward leapt to ${show(mean(after))}. Learning seldom leaps; a trick that the scorer falls for does. Read the samples of the last steps beside older ones.`,
    evidence: { before: level, after: mean(after), error },
  };
};

/** Too good to be true. */
export const perfectScore: Check = (history, limits) => {
  const evaluation = freshEvaluation(history);
  const full = evaluation?.pass_rate === 1 && evaluation.examples >= limits.perfectExamples;
  const inTraining = isPerfect(history, limits);
  if (!full && !inTraining) return undefined;
  const seen = inTraining
    ? `For ${limits.perfectSteps} steps the mean reward has been ${limits.perfect} or more.`
    : `All ${evaluation?.examples} validation examples pass.`;
  return {
    alarm: "perfect_score",
    stops: false,
    message: `${seen} Either the task is solved and there is nothing left to learn, or the scorer accepts what it should not, or the answers leak into the prompts. Read samples, and try the scorer on wrong answers with validate-scorer.`,
    evidence: {
      reward_mean: recent(history.steps, "reward/mean", limits.perfectSteps),
      pass_rate: evaluation?.pass_rate,
    },
  };
};

function isPerfect({ steps }: History, { perfect, perfectSteps }: Limits): boolean {
  const rewards = column(steps.slice(-perfectSteps), "reward/mean");
  const all = rewards.length === perfectSteps && rewards.every((reward) => reward >= perfect);
  return all && fullMarkIsOne(steps);
}

/** Where more than 1 has been earned, 1 is no full mark. */
export function fullMarkIsOne(steps: readonly StepRecord[]): boolean {
  return column(steps, "reward/max").every((most) => most <= 1);
}
