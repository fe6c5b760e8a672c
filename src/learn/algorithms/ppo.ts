/**
 * PPO: each token has an advantage of its own, from a value head that learns along. The reward comes
 * with the last token, a KL penalty with every token. Left out: a value network apart from the policy.
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
  discount: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("what a reward is worth one token earlier"),
  lambda: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe("of generalised advantage estimation; 1 trusts rewards, 0 the value head"),
  whiten: z.boolean().default(true).describe("advantages to mean 0 and deviation 1"),
  clip: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe("moving a token's probability by more than this share gains nothing"),
  value_clip: z
    .number()
    .min(0)
    .default(0.2)
    .describe("moving a value by more than this gains nothing"),
  value_coefficient: z.number().min(0).default(0.1).describe("weight of the value head's loss"),
  reduction: reduction.default("dapo"),
  epochs: epochs.default(4),
  minibatches: minibatches.default(1),
});

export const ppo: Algorithm<z.infer<typeof ppoSettings>> = {
  name: "ppo",
  about: "clipped policy gradient with a value head and token-wise advantages",
  needs: "rollouts",
  settings: ppoSettings,
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
    const all = groups.flat().map(({ score, penalties, old, values = [] }) => {
      const rewards = Array.from(penalties, (penalty) => -penalty);
      rewards[rewards.length - 1] = (rewards.at(-1) ?? 0) + score;
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

/** Half the square of the error, the worse of the value as it is and as it may have moved. */
function valueLoss(values: Tensor, before: Tensor, returns: Tensor, limit: number): Tensor {
  const moved = add(before, clip(sub(values, before), -limit, limit));
  return mul(maximum(square(sub(values, returns)), square(sub(moved, returns))), 0.5);
}

/** How much of the returns' variance the value head foresaw: 1 is all, 0 no more than their mean. */
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
