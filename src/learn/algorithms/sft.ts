/**
 * Supervised fine-tuning: make the completions that somebody wrote more likely. The loss is
 * −Σ w log π(y_t | prefix) / Σ w over all tokens of the batch, where w is 1 on the completion and its
 * end and 0 on the prompt and the padding. Left out on purpose: packing of several texts in a row.
 */

import { div, mul, neg } from "../../graph/ops/elementwise.ts";
import { pick } from "../../graph/ops/indexing.ts";
import { sum } from "../../graph/ops/reduce.ts";
import { logSoftmax } from "../../graph/ops/softmax.ts";
import { input, type Tensor } from "../../graph/tensor.ts";
import type { Architecture } from "../../policy/architecture.ts";
import { logitsOf, type Weights } from "../../policy/transformer.ts";

export interface BatchShape {
  readonly batch: number;
  readonly length: number;
}

/** The loss of a batch that is fed as `tokens`, `targets` and `weights`. */
export function sftLoss(a: Architecture, weights: Weights, { batch, length }: BatchShape): Tensor {
  const shape = [batch, length];
  const tokens = input("tokens", shape, "i64");
  const targets = input("targets", shape, "i64");
  const learned = input("weights", shape);
  const logprobs = pick(logSoftmax(logitsOf(a, weights, tokens)), targets);
  return neg(div(sum(mul(logprobs, learned)), sum(learned)));
}
