/** What the preference losses share: pairs out of rows, log-ratios, and a logarithm that holds. */

import type { LossInputs, LossMetrics } from "../../engine/loss.ts";
import {
  add,
  cast,
  div,
  exp,
  greater,
  log,
  maximum,
  minimum,
  mul,
  neg,
  sub,
} from "../../graph/ops/elementwise.ts";
import { reshape, slice } from "../../graph/ops/layout.ts";
import { sum } from "../../graph/ops/reduce.ts";
import { shapeError } from "../../graph/shape.ts";
import type { Tensor } from "../../graph/tensor.ts";

/** Rows come chosen, rejected, chosen, rejected, …: each as [pairs]. */
export function pairsOf(rows: Tensor): { chosen: Tensor; rejected: Tensor } {
  const count = (rows.shape[0] as number) / 2;
  if (!Number.isInteger(count)) {
    throw shapeError("pairsOf", "a pair is two rows", rows.shape);
  }
  const pairs = reshape(rows, [count, 2]);
  const side = (i: number) => reshape(slice(pairs, 1, i, i + 1), [count]);
  return { chosen: side(0), rejected: side(1) };
}

/** The log-prob of each row's completion: [rows]. */
export function completionLogprobs({ logprobs, mask }: LossInputs): Tensor {
  return sum(mul(logprobs, mask), 1);
}

/** Its mean over the tokens. */
export function meanLogprobs(inputs: LossInputs): Tensor {
  return div(completionLogprobs(inputs), maximum(sum(inputs.mask, 1), 1));
}

/** log π(y) − log π_ref(y) of each row; per token where `averaged`. */
export function logRatios(inputs: LossInputs, averaged = false): Tensor {
  const { logprobs, mask, column } = inputs;
  const ratios = sum(mul(sub(logprobs, column("reference")), mask), 1);
  return averaged ? div(ratios, maximum(sum(mask, 1), 1)) : ratios;
}

/** Of each pair: 1 / pairs, 0 for one that only fills up. */
export function pairWeights({ rowWeights }: LossInputs): Tensor {
  return mul(pairsOf(rowWeights).chosen, 2);
}

/**
 * log σ(x), without overflow on either side. −|x| is written as a minimum, of whose equals the gradient
 * goes to the first: so the slope is 1 / 2 at 0 as well, where every preference loss begins.
 */
export function logSigmoid(x: Tensor): Tensor {
  return sub(minimum(x, 0), log(add(exp(minimum(x, neg(x))), 1)));
}

/** log(1 − eᵖ) for a log-prob p; one that is nearly certain is held a little below. */
export function logOneMinusExp(p: Tensor): Tensor {
  return log(sub(1, exp(minimum(p, -1e-6))));
}

/** Implicit rewards and log-probs of the two sides. */
export function pairMetrics(inputs: LossInputs, rewards: Tensor): LossMetrics {
  const weights = pairWeights(inputs);
  const logps = pairsOf(completionLogprobs(inputs));
  const sides = pairsOf(rewards);
  const mean = (x: Tensor) => sum(mul(x, weights));
  const margin = sub(sides.chosen, sides.rejected);
  return {
    sums: {
      "rewards/chosen": mean(sides.chosen),
      "rewards/rejected": mean(sides.rejected),
      "rewards/margin": mean(margin),
      "rewards/accuracy": mean(cast(greater(margin, 0))),
      "logps/chosen": mean(logps.chosen),
      "logps/rejected": mean(logps.rejected),
    },
  };
}
