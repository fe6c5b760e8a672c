/**
 * PPO: per-token advantages from a value head that is trained with the policy. The reward of a turn is
 * given at its last token, the KL penalty at every token. Advantages run over all tokens of an episode,
 * whether its turns are in one row or in several. Left out: a separate value network.
 */

import { z } from "zod";
import { add, clip, maximum, mul, square, sub } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Tensor } from "../../graph/tensor.ts";
import type { Algorithm } from "../algorithm.ts";
import { generalisedAdvantages, mean, whitened } from "../parts/advantages.ts";
import { clippedLoss, ratioMetrics, ratioOf } from "../parts/surrogate.ts";
import { epochs, minibatches, reduction } from "./common-settings.ts";

export const ppoSettings = z.strictObject({
  discount: z.number().min(0).max(1).default(1).describe("discount factor per token"),
  lambda: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe("λ of generalised advantage estimation (GAE)"),
  whiten: z
    .boolean()
    .default(true)
    .describe("normalise advantages to mean 0 and standard deviation 1"),
  clip: z.number().min(0).max(1).default(0.2).describe("clip range of the probability ratio"),
  value_clip: z.number().min(0).default(0.2).describe("clip range of the value"),
  value_coefficient: z.number().min(0).default(0.1).describe("weight of the value loss"),
  reduction: reduction.default("dapo"),
  epochs: epochs.default(4),
  minibatches: minibatches.default(1),
});

export const ppo: Algorithm<z.infer<typeof ppoSettings>> = {
  name: "ppo",
  about: "clipped policy gradient with a value head and per-token advantages",
  needs: "rollouts",
  settings: ppoSettings,
  defaults: { steps: 100, rollouts: { credit: "turn" } },
  columns: { old: "token", advantage: "token", old_value: "token", return: "token" },
  klPlace: "reward",
  valueHead: true,
  reduction: ({ reduction }) => reduction,
  passes: ({ epochs, minibatches }) => ({ epochs, minibatches }),
  loss(inputs, { clip: limit, value_clip, value_coefficient }) {
    const [old, advantage] = [inputs.column("old"), inputs.column("advantage")];
    const bounds = { low: limit, high: limit };
    const ratio = ratioOf(inputs, old, "token");
    const [values, before, returns] = [
      inputs.values(),
      inputs.column("old_value"),
      inputs.column("return"),
    ];
    const missed = valueLoss(values, before, returns, value_clip);
    const perToken = add(clippedLoss(ratio, advantage, bounds), mul(missed, value_coefficient));
    const { tokens, largest = {} } = ratioMetrics(inputs, old, ratio, advantage, bounds);
    return {
      loss: sum(mul(perToken, inputs.weights)),
      metrics: { tokens: { ...tokens, "value/loss": missed }, largest },
    };
  },
  advantages(groups, { discount, lambda, whiten }) {
    const all = groups.flat().map(({ score, tokenScores, penalties, old, values = [] }) => {
      const rewards = Array.from(penalties, (penalty, t) => (tokenScores?.[t] ?? 0) - penalty);
      if (!tokenScores) rewards[rewards.length - 1] = (rewards.at(-1) ?? 0) + score;
      return { old, values, ...generalisedAdvantages(rewards, values, discount, lambda) };
    });
    const lists = all.map(({ advantages }) => advantages);
    const advantages = whiten ? whitened(lists) : lists;
    const columns = all.map(({ old, values, returns }, i) => ({
      ...{ old, old_value: values, return: returns },
      advantage: advantages[i] as number[],
    }));
    const starts = groups.map((_, i) => groups.slice(0, i).flat().length);
    return {
      columns: groups.map((group, i) => columns.slice(starts[i], (starts[i] ?? 0) + group.length)),
      metrics: { "value/explained": explained(all) },
    };
  },
};

/** Half the squared error, the larger of the unclipped and the clipped value. */
function valueLoss(values: Tensor, before: Tensor, returns: Tensor, limit: number): Tensor {
  const moved = add(before, clip(sub(values, before), -limit, limit));
  return mul(maximum(square(sub(values, returns)), square(sub(moved, returns))), 0.5);
}

/** Explained variance of the returns. */
function explained(
  all: readonly { values: ArrayLike<number>; returns: readonly number[] }[],
): number {
  const returns = all.flatMap((row) => row.returns);
  const errors = all.flatMap((row) => row.returns.map((x, t) => x - (row.values[t] as number)));
  const variance = (list: readonly number[]) => {
    const centre = mean(list);
    return mean(list.map((x) => (x - centre) ** 2));
  };
  const total = variance(returns);
  return total === 0 ? 0 : 1 - variance(errors) / total;
}
