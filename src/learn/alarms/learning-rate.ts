/** A learning rate that ruins the policy within a few updates, told apart from a wrong sign. */

import { type Check, column, type Finding, type History, metric, recent, show } from "./history.ts";
import type { Limits } from "./limits.ts";

export const ruinousLearningRate: Check = (history, limits) => {
  const { steps, facts } = history;
  // The first figures are from before the first update.
  if (steps.length <= limits.window || steps.length > limits.backwardsWithin) return undefined;
  const seen =
    metric(steps[0], "reward/mean") === undefined
      ? lossRuined(history, limits)
      : rewardRuined(history, limits);
  if (!seen) return undefined;
  const peak = facts.rate?.peak ?? Math.max(...column(steps, "learning_rate"));
  const usual = facts.rate?.usual;
  const times =
    usual !== undefined && peak > usual
      ? `, ${show(peak / usual)} times the default of ${show(usual)},`
      : "";
  const next = usual !== undefined && peak > usual ? usual : peak / 10;
  return {
    alarm: "ruinous_learning_rate",
    stops: true,
    message: `The learning rate of ${show(peak)}${times} ruins the policy: ${seen.words}. The updates overshoot; this does not recover. Start again with --lr ${show(next)}.`,
    evidence: { learning_rate: peak, usual: usual ?? null, ...seen.evidence },
  };
};

interface Seen {
  readonly words: string;
  readonly evidence: Finding["evidence"];
}

/** Far above the usual: then a fall is its work rather than that of a wrong sign. */
function isHigh({ facts: { rate } }: History, { rateHigh }: Limits): boolean {
  return rate !== undefined && rate.peak >= rateHigh * rate.usual;
}

/** The loss is far above that of the initial policy; a wrong sign raises it steadily. */
function lossRuined(history: History, limits: Limits): Seen | undefined {
  const values = column(history.steps, "loss");
  const [start = 0] = values;
  const now = recent(history.steps, "loss", limits.window) ?? 0;
  if (now <= (1 + limits.ruinedLoss) * Math.abs(start) + limits.ruinedLossLeast) return undefined;
  const leap = Math.max(...values.slice(1).map((value, i) => value - (values[i] as number)));
  if (!isHigh(history, limits) && leap < limits.ruinedLeap * (now - start)) return undefined;
  const words = `the loss was ${show(start)} before the first update and is ${show(now)} after ${values.length - 1}`;
  return { words, evidence: { loss_start: start, loss_now: now } };
}

/** All rewards have become equal and lower, with a policy far from the initial one. */
function rewardRuined(history: History, limits: Limits): Seen | undefined {
  const { steps } = history;
  const start = metric(steps[0], "reward/mean") ?? 0;
  const now = recent(steps, "reward/mean", limits.window) ?? 0;
  const kl = column(steps.slice(-limits.window), "kl/k3").sort((a, b) => a - b);
  const far = kl[Math.floor(kl.length / 2)] ?? 0;
  const lost = start > 0 && now <= limits.ruinedShare * start;
  if (!lost || !(far >= limits.ruinedKl || isHigh(history, limits))) return undefined;
  const words = `the mean reward was ${show(start)} before the first update and is ${show(now)} after ${steps.length - 1}, at a KL of ${show(far)} nats per token from the initial policy`;
  return { words, evidence: { reward_start: start, reward_now: now, kl: far } };
}
