/**
 * REINFORCE: −A Σ log π(y_t), with A = reward − baseline. The baseline is 0, the running mean of
 * the rewards, or the mean of the prompt's group. Left out: off-policy correction, so every batch is
 * used once.
 */

import { z } from "zod";
import type { LossInputs } from "../../engine/loss.ts";
import { abs, mul, neg, sub } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import { mean } from "../parts/advantages.ts";
import { reduction } from "./common-settings.ts";

export const reinforceSettings = z.strictObject({
  baseline: z
    .enum(["none", "running", "prompt"])
    .default("prompt")
    .describe("baseline: none, the running mean, or the mean of the prompt's group"),
  decay: z.number().min(0).max(1).default(0.9).describe("decay of the running mean"),
  reduction: reduction.default("sequences"),
});

/** The running mean of rewards; null before the first step. */
const memory = z.object({ baseline: z.number().nullable() });

export const reinforce: Algorithm<z.infer<typeof reinforceSettings>, z.infer<typeof memory>> = {
  name: "reinforce",
  about: "policy gradient: reward minus a baseline, one update per batch",
  needs: "rollouts",
  grouped: ({ baseline }) => baseline === "prompt",
  settings: reinforceSettings,
  defaults: { steps: 100 },
  columns: { old: "token", advantage: "token" },
  reduction: ({ reduction }) => reduction,
  loss: policyGradient,
  namedLoss: "importance_sampling",
  memory: { schema: memory, initial: { baseline: null } },
  advantages(groups, { baseline, decay }, { baseline: before }) {
    const all = groups.flat().map(({ reward }) => reward);
    const running = before ?? mean(all);
    return {
      columns: groups.map((group) => {
        const own = mean(group.map(({ reward }) => reward));
        const expected = { none: 0, running, prompt: own }[baseline];
        return group.map(({ reward, old }) => ({ old, advantage: spread(reward - expected, old) }));
      }),
      metrics: { "reward/baseline": baseline === "running" ? running : 0 },
      memory: { baseline: decay * running + (1 - decay) * mean(all) },
    };
  },
};

/** −A log π of on-policy tokens. */
export function policyGradient({ logprobs, weights, column }: LossInputs) {
  return {
    loss: neg(sum(mul(mul(logprobs, column("advantage")), weights))),
    metrics: { largest: { "check/logprob_gap": abs(sub(logprobs, column("old"))) } },
  };
}

/** The same advantage for every token of a completion. */
export function spread(advantage: number, tokens: ArrayLike<number>): Float32Array {
  return new Float32Array(tokens.length).fill(advantage);
}
