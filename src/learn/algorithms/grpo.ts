/**
 * GRPO: rewards are compared within the group of a prompt's completions, and the clipped surrogate
 * lets a batch be used more than once. Every convention on which implementations disagree is a
 * setting; a KL penalty is added to the loss by the training loop.
 */

import { z } from "zod";
import { mul } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import { groupAdvantages } from "../parts/advantages.ts";
import { clippedLoss, ratioMetrics, ratioOf } from "../parts/surrogate.ts";
import { epochs, minibatches, reduction } from "./common-settings.ts";
import { spread } from "./reinforce.ts";

export const grpoSettings = z.strictObject({
  std: z
    .enum(["sample", "population", "none"])
    .default("sample")
    .describe("the deviation of a group, by which advantages are divided"),
  std_epsilon: z.number().min(0).default(1e-4).describe("added to the deviation"),
  reduction: reduction.default("dapo"),
  clip_low: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe("lowering a token's probability by more than this share gains nothing"),
  clip_high: z.number().min(0).default(0.2).describe("the same for raising it"),
  ratio: z
    .enum(["token", "sequence"])
    .default("token")
    .describe("whose probability is compared with that at sampling"),
  epochs: epochs.default(1),
  minibatches: minibatches.default(1),
});

export const grpo: Algorithm<z.infer<typeof grpoSettings>> = {
  name: "grpo",
  about: "clipped policy gradient; rewards compared within a prompt's group",
  needs: "rollouts",
  settings: grpoSettings,
  columns: { old: "token", advantage: "token" },
  klPlace: "loss",
  namedLoss: "ppo",
  reduction: ({ reduction }) => reduction,
  passes: ({ epochs, minibatches }) => ({ epochs, minibatches }),
  loss(inputs, { clip_low: low, clip_high: high, ratio: level }) {
    const [old, advantage] = [inputs.column("old"), inputs.column("advantage")];
    const ratio = ratioOf(inputs, old, level);
    return {
      loss: sum(mul(clippedLoss(ratio, advantage, { low, high }), inputs.weights)),
      metrics: ratioMetrics(inputs, old, ratio, advantage, { low, high }),
    };
  },
  advantages: (groups, { std, std_epsilon }) => ({
    columns: groups.map((group) => {
      const rewards = group.map(({ reward }) => reward);
      const advantages = groupAdvantages(rewards, std, std_epsilon);
      return group.map(({ old }, i) => ({ old, advantage: spread(advantages[i] as number, old) }));
    }),
    metrics: {},
  }),
};
