/**
 * ORPO: the chosen completions are learned as texts, and the odds of chosen against rejected are
 * raised. It needs no reference. Log-probs are means over the tokens of a completion.
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
  beta: z.number().min(0).default(0.1).describe("weight of the odds beside the text"),
});

export const orpo: Algorithm<z.infer<typeof orpoSettings>> = {
  name: "orpo",
  about: "learn from pairs: chosen as text, with better odds than rejected",
  needs: "pairs",
  settings: orpoSettings,
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
