/** Alarm for a wrong sign: the reward falls steadily from the first steps, or the loss rises. */

import { type Check, change, column, type History, metric, recent, show } from "./history.ts";
import type { Limits } from "./limits.ts";
import { spread } from "./reward.ts";
import { trend } from "./statistics.ts";

export const learningBackwards: Check = (history, limits) => {
  const { steps } = history;
  const loss = metric(steps[0], "reward/mean") === undefined;
  const name = loss ? "loss" : "reward/mean";
  const moved = change(steps, name, limits.window);
  // All rewards equal: the reward cannot fall any further.
  const ruined = !loss && recent(steps, "reward/std", limits.window) === 0;
  if (!moved || isExcused(history, limits, ruined)) return undefined;
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
    message: `${name} has ${loss ? "risen" : "fallen"}${ruined ? " until all rewards were equal" : " steadily"} since the first step, from ${show(moved.start)} to ${show(moved.now)} in ${values.length} steps (z = ${show(z)}). Probably a sign is wrong (of the loss, the advantage or the reward, or chosen and rejected are swapped), or the learning rate is much too high. Check the sign on one example by hand, then try a tenth of the learning rate.`,
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
  const better = first && last && first !== last && last.reward_mean >= first.reward_mean;
  return late || still || traded || better === true;
}
