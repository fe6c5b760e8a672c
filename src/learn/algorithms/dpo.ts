/**
 * DPO: −log σ(βΔ), where Δ is the log-ratio of chosen to rejected under the policy minus that under
 * the frozen reference. The loss starts at ln 2; if it stays there, the reference is the policy itself.
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
    .describe("KL regularisation; smaller values allow more change from the initial policy"),
});

export type DpoSettings = z.infer<typeof dpoSettings>;

export const dpo: Algorithm<DpoSettings> = {
  name: "dpo",
  about: "preference pairs: log-sigmoid of the margin over the reference",
  needs: "pairs",
  settings: dpoSettings,
  defaults: { steps: 200 },
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
