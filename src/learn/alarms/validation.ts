/** Alarms of the validation set, from the table of nine cells. */

import type { JsonObject } from "../../core/json.ts";
import {
  bestEvaluation,
  type RewardMove,
  readDirections,
  type ValidationMove,
} from "../../curves/divergence.ts";
import { solvedFall } from "../../curves/solved-fall.ts";
import {
  type Check,
  type Finding,
  freshEvaluation,
  type History,
  percent,
  show,
} from "./history.ts";
import type { Limits } from "./limits.ts";

/** Where the algorithm is not known. */
const CLOSER = "raise the KL coefficient";

/** The problem that the cell of a new evaluation shows. */
export const divergence: Check = (history, limits) => {
  if (!freshEvaluation(history)) return undefined;
  const { validation, reward, verdict } = readDirections(history, limits);
  if (!validation || !reward) return withoutSolving(history, limits);
  if (verdict === "reward hacking") return rewardHacking(history, validation, reward, limits);
  if (validation.direction === "down") return validationFalls(history, validation, reward);
  const unsolved = withoutSolving(history, limits);
  if (unsolved) return unsolved;
  return verdict === "converged" ? converged(history, validation, reward, limits) : undefined;
};

/** The validation reward itself is hacked: it rises while fewer tasks are solved. */
function withoutSolving({ evaluations, facts }: History, limits: Limits): Finding | undefined {
  // Without labels an example passes where a judge prefers it: both figures are the judge's.
  if (facts.judged?.labelled === false) return undefined;
  const found = solvedFall(evaluations, limits);
  if (!found) return undefined;
  const { since, examples, from, to, z, reward } = found;
  const kept = bestEvaluation(evaluations)?.step;
  return {
    alarm: "reward_hacking",
    stops: true,
    message: `The pass rate fell from ${percent(from)} at step ${since} to ${percent(to)} in the last two evaluations of the same ${examples} examples (z = ${show(z)}, significant after correction for all evaluations), while their mean reward rose by ${show(reward.mean)}: the reward is had without solving the task. Read the samples since then, and mend the reward; until then validate by an environment or scorer that rewards only solved tasks (--validation-env, --validation-scorer). The kept policy is that of step ${kept}, with the highest reward; the one that solved most is that of step ${since}.`,
    evidence: { since, examples, pass_rate: { from, to, z }, reward: { ...reward } },
  };
}

/** Training reward rises while the validation reward falls. */
function rewardHacking(
  { facts }: History,
  validation: ValidationMove,
  reward: RewardMove,
  { rewardTrend }: Limits,
): Finding {
  const { from, to, z } = reward.proxy;
  const [rewarder, check] = facts.judged
    ? ["judge", "judge-audit, another rubric"]
    : ["reward scorer", "validate-scorer"];
  const cause =
    z >= rewardTrend
      ? `The ${rewarder} gives the validation completions more too (${show(from)} → ${show(to)}): the policy exploits it.`
      : `Either the policy exploits the ${rewarder}, or it memorises the training examples.`;
  return {
    alarm: "reward_hacking",
    stops: true,
    message: `${fallSentence(validation)}${rewardSentence(reward)} ${cause} Keep the checkpoint of step ${validation.since}, read the samples since then, and fix the reward (${check}) or ${facts.advice?.closer ?? CLOSER} before you continue.`,
    evidence: evidenceOf(validation, reward),
  };
}

/** Validation falls, and the reward does not rise. */
function validationFalls(
  { facts }: History,
  validation: ValidationMove,
  reward: RewardMove,
): Finding {
  return {
    alarm: "validation_falls",
    stops: true,
    message: `${fallSentence(validation)}${rewardSentence(reward)} Training makes the policy worse. Keep the checkpoint of step ${validation.since}; lower the learning rate or ${facts.advice?.closer ?? CLOSER} before you continue.`,
    evidence: evidenceOf(validation, reward),
  };
}

/** Validation is flat while the reward rises. */
function converged(
  { evaluations }: History,
  validation: ValidationMove,
  reward: RewardMove,
  { matters }: Limits,
): Finding {
  const { since, mean, error } = validation;
  return {
    alarm: "converged",
    stops: false,
    message: `Since step ${since} the validation reward has not risen by ${show(matters)} (${show(mean)} ± ${show(error)}).${rewardSentence(reward)} More training reward no longer improves the policy, and risks reward hacking. Stop soon; the best checkpoint is that of step ${bestEvaluation(evaluations)?.step}.`,
    evidence: evidenceOf(validation, reward),
  };
}

function fallSentence({ since, mean, z, examples }: ValidationMove): string {
  return `The mean reward of the last two evaluations is ${show(-mean)} below the best one (step ${since}) on the same ${examples} examples (z = ${show(z)}, significant after correction for all evaluations).`;
}

function rewardSentence({ direction, training }: RewardMove): string {
  if (!training) return "";
  const { from, to } = training;
  const rose = direction === "up" && to > from ? "rose" : "did not clearly rise";
  return ` Meanwhile the training reward ${direction === "down" ? "fell too" : rose} (${show(from)} → ${show(to)}).`;
}

function evidenceOf(validation: ValidationMove, { training, proxy }: RewardMove): JsonObject {
  const { since, examples, mean, error, z } = validation;
  return {
    since,
    validation: { examples, change: mean, error, z },
    training_reward: training ? { ...training } : null,
    proxy: { ...proxy },
  };
}
