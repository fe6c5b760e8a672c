/**
 * Supervised fine-tuning on given completions. The loss is −Σ log π(y_t | prefix), by default divided
 * by all trained tokens of the batch; prompts and padding have weight 0.
 */

import { z } from "zod";
import { mul, neg } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import { reduction } from "./common-settings.ts";

export const sftSettings = z.strictObject({
  reduction: reduction.default("dapo"),
});

export const sft: Algorithm<z.infer<typeof sftSettings>> = {
  name: "sft",
  about: "supervised fine-tuning on texts: prompts and completions",
  needs: "texts",
  settings: sftSettings,
  defaults: { steps: 1000, rate: { peak: 0.003, warmup: 20, end: 0.1, shape: "cosine" } },
  columns: {},
  namedLoss: "cross_entropy",
  reduction: ({ reduction }) => reduction,
  loss: ({ logprobs, weights }) => ({ loss: neg(sum(mul(logprobs, weights))), metrics: {} }),
};
