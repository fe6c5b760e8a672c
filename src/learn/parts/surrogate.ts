/** The clipped surrogate that GRPO and PPO share, and what is worth watching of it. */

import {
  abs,
  cast,
  clip,
  div,
  exp,
  greater,
  less,
  maximum,
  minimum,
  mul,
  neg,
  stopGradient,
  sub,
} from "../../graph/ops/elementwise.ts";
import { expand, reshape } from "../../graph/ops/layout.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Tensor } from "../../graph/tensor.ts";
import type { LossInputs, LossMetrics } from "../algorithm.ts";

export interface Clip {
  readonly low: number;
  readonly high: number;
}

/** ρ = π / π_old, of each token, or of the whole completion as its geometric mean (GSPO). */
export function ratioOf(
  { logprobs, mask }: Pick<LossInputs, "logprobs" | "mask">,
  old: Tensor,
  level: "token" | "sequence",
): Tensor {
  const change = sub(logprobs, old);
  if (level === "token") return exp(change);
  const lengths = maximum(sum(mask, 1), 1);
  const mean = div(sum(mul(change, mask), 1), lengths);
  return expand(reshape(exp(mean), [mask.shape[0] as number, 1]), mask.shape);
}

/** −min(ρA, clip(ρ, 1 − low, 1 + high) A), of each token. */
export function clippedLoss(ratio: Tensor, advantage: Tensor, { low, high }: Clip): Tensor {
  const held = clip(ratio, 1 - low, 1 + high);
  return neg(minimum(mul(ratio, advantage), mul(held, advantage)));
}

/** Shares of tokens whose gradient was cut off on either side, and how far the policy moved. */
export function watchRatio(
  { logprobs }: Pick<LossInputs, "logprobs">,
  old: Tensor,
  ratio: Tensor,
  advantage: Tensor,
  { low, high }: Clip,
): LossMetrics {
  const up = cast(greater(advantage, 0));
  const down = cast(less(advantage, 0));
  return {
    tokens: {
      "clip/low": mul(cast(less(ratio, 1 - low)), down),
      "clip/high": mul(cast(greater(ratio, 1 + high)), up),
    },
    largest: {
      "ratio/max": stopGradient(ratio),
      "check/logprob_gap": abs(sub(logprobs, old)),
    },
  };
}
