/**
 * DPO: −log σ(βΔ), where Δ is by how much more the policy prefers the chosen completion to the
 * rejected one than the frozen reference does. At the start the loss is ln 2, and a loss that stays
 * there has a reference which is the policy itself.
 */

import { z } from "zod";
import { mul, neg, sub } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import { logRatios, logSigmoid, pairMetrics, pairsOf, pairWeights } from "../parts/preference.ts";

export const dpoSettings = z.strictObject({
  beta: z
    .number()
    .positive()
    .default(0.1)
    .describe("the smaller, the farther from the start it may go"),
});

export type DpoSettings = z.infer<typeof dpoSettings>;

export const dpo: Algorithm<DpoSettings> = {
  name: "dpo",
  about: "learn from pairs: prefer chosen to rejected more than the start",
  needs: "pairs",
  settings: dpoSettings,
  columns: { reference: "token" },
  reference: true,
  reduction: () => "sequences",
  loss(inputs, { beta }) {
    const rewards = mul(logRatios(inputs), beta);
    const { chosen, rejected } = pairsOf(rewards);
    const losses = neg(logSigmoid(sub(chosen, rejected)));
    return {
      loss: sum(mul(losses, pairWeights(inputs))),
      metrics: pairMetrics(inputs, rewards),
    };
  },
};
