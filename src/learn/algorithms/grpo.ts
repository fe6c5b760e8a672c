/**
 * GRPO: advantages are relative to the group of a prompt's completions, and the clipped surrogate
 * allows several updates per batch. Every convention on which implementations differ is a setting; the
 * training loop adds the KL penalty to the loss.
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
    .describe("standard deviation that divides the advantages"),
  std_epsilon: z.number().min(0).default(1e-4).describe("added to the standard deviation"),
  reduction: reduction.default("dapo"),
  clip_low: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe("lower clip of the probability ratio: 1 − clip_low"),
  clip_high: z.number().min(0).default(0.2).describe("upper clip: 1 + clip_high"),
  ratio: z
    .enum(["token", "sequence"])
    .default("token")
    .describe("probability ratio per token or per sequence"),
  epochs: epochs.default(1),
  minibatches: minibatches.default(1),
});

export const grpo: Algorithm<z.infer<typeof grpoSettings>> = {
  name: "grpo",
  about: "clipped policy gradient; advantages relative to the prompt's group",
  needs: "rollouts",
  grouped: () => true,
  settings: grpoSettings,
  defaults: { steps: 100 },
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
