/**
 * ORPO: SFT on the chosen completions plus a loss on the odds ratio of chosen and rejected. It needs
 * no reference. Log-probs are means over the tokens of a completion.
 */

import { z } from "zod";
import { add, mul, neg, sub } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import {
  logOneMinusExp,
  logSigmoid,
  meanLogprobs,
  pairMetrics,
  pairsOf,
  pairWeights,
} from "../parts/preference.ts";

export const orpoSettings = z.strictObject({
  beta: z.number().min(0).default(0.1).describe("weight of the odds-ratio loss"),
});

export const orpo: Algorithm<z.infer<typeof orpoSettings>> = {
  name: "orpo",
  about: "preference pairs: SFT on chosen plus an odds-ratio loss",
  needs: "pairs",
  settings: orpoSettings,
  defaults: { steps: 200 },
  columns: {},
  reduction: () => "sequences",
  loss(inputs, { beta }) {
    const means = meanLogprobs(inputs);
    const p = pairsOf(means);
    const rest = pairsOf(logOneMinusExp(means));
    const odds = sub(sub(p.chosen, p.rejected), sub(rest.chosen, rest.rejected));
    const losses = neg(add(p.chosen, mul(logSigmoid(odds), beta)));
    return {
      loss: sum(mul(losses, pairWeights(inputs))),
      metrics: pairMetrics(inputs, mul(means, beta)),
    };
  },
};
