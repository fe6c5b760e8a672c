/** Alarms of the validation set: what the divergence table says, in words. */

import type { JsonObject } from "../../core/json.ts";
import {
  type Check,
  type Finding,
  freshEvaluation,
  type History,
  percent,
  show,
} from "./history.ts";
import type { Limits } from "./limits.ts";
import { best, type RewardMove, read, sinceImproved, type ValidationMove } from "./stopping.ts";

/** What the divergence table says of a new evaluation, where that is bad news. */
export const divergence: Check = (history, limits) => {
  if (!freshEvaluation(history)) return undefined;
  const { validation, reward, verdict } = read(history, limits);
  if (!validation || !reward) return undefined;
  if (verdict === "reward hacking") return rewardHacking(validation, reward, limits);
  if (validation.direction === "down") return validationFalls(validation, reward);
  return verdict === "converged" ? converged(history, validation, reward, limits) : undefined;
};

/** Training gains reward while the validation set, which it does not see, gets worse. */
function rewardHacking(
  validation: ValidationMove,
  reward: RewardMove,
  { rewardTrend }: Limits,
): Finding {
  const { from, to, z } = reward.proxy;
  const cause =
    z >= rewardTrend
      ? `The scorer that rewards likes the validation answers better too (${show(from)} → ${show(to)}): it is being exploited.`
      : "Either the policy exploits the scorer that rewards, or it learns the training examples by heart.";
  return {
    alarm: "reward_hacking",
    stops: true,
    message: `${fallWords(validation)}${rewardWords(reward)} ${cause} Keep the checkpoint of step ${validation.since}, read the samples since then, and mend the reward (validate-scorer) or hold the policy nearer to its reference before you go on.`,
    evidence: evidenceOf(validation, reward),
  };
}

/** Validation gets worse, and no reward is gained for it. */
function validationFalls(validation: ValidationMove, reward: RewardMove): Finding {
  return {
    alarm: "validation_falls",
    stops: true,
    message: `${fallWords(validation)}${rewardWords(reward)} Learning is spoiling the policy. Keep the checkpoint of step ${validation.since}; lower the learning rate or hold the policy nearer to its reference before you go on.`,
    evidence: evidenceOf(validation, reward),
  };
}

/** Validation is level and the reward still rises. */
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
    message: `Since step ${since} validation has not risen by ${show(matters)} (${show(mean)} ± ${show(error)}).${rewardWords(reward)} More reward no longer makes a better policy, and is the ground on which reward hacking grows. Stop soon; the best checkpoint is that of step ${best(evaluations)?.step}.`,
    evidence: evidenceOf(validation, reward),
  };
}

/** Only where it was asked for: a plateau can also be the foot of a slope. */
export const plateau: Check = (history, { plateau: limit }) => {
  if (!limit || !freshEvaluation(history)) return undefined;
  const count = sinceImproved(history.evaluations, limit.delta);
  const top = best(history.evaluations);
  if (count < limit.evaluations || !top) return undefined;
  return {
    alarm: "plateau",
    stops: true,
    message: `For ${count} evaluations validation has not improved by more than ${show(limit.delta)}. The best was ${percent(top.pass_rate)} passed (mean reward ${show(top.reward_mean)}) at step ${top.step}. Use that checkpoint; a longer run needs harder examples or another reward.`,
    evidence: {
      best_step: top.step,
      best_reward_mean: top.reward_mean,
      evaluations: count,
      delta: limit.delta,
    },
  };
};

function fallWords({ since, mean, z, examples }: ValidationMove): string {
  return `The last two evaluations are ${show(-mean)} below the best one, of step ${since}, on the same ${examples} examples; that is not noise (z = ${show(z)}).`;
}

function rewardWords({ direction, training }: RewardMove): string {
  if (!training) return "";
  const { from, to } = training;
  const rose = direction === "up" && to > from ? "rose" : "did not clearly rise";
  return ` Meanwhile the training reward ${direction === "down" ? "fell as well" : rose} (${show(from)} → ${show(to)}).`;
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
