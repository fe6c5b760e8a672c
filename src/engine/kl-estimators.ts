/** Estimators of KL(π ‖ π_ref) from sampled tokens, as numbers and as graphs. */

import { exp, mul, sub } from "../graph/ops/elementwise.ts";
import type { Tensor } from "../graph/tensor.ts";

export type KlEstimator = "k1" | "k2" | "k3";

/** Of one token, with d = log π_ref − log π. All three estimate KL(π ‖ π_ref); k2 is biased. */
export function klEstimate(kind: KlEstimator, logprob: number, reference: number): number {
  const d = reference - logprob;
  if (kind === "k1") return -d;
  return kind === "k2" ? (d * d) / 2 : Math.exp(d) - d - 1;
}

/** The same in the graph, with a gradient through `logprobs`. */
export function klEstimateGraph(kind: KlEstimator, logprobs: Tensor, reference: Tensor): Tensor {
  const d = sub(reference, logprobs);
  if (kind === "k1") return sub(logprobs, reference);
  return kind === "k2" ? mul(mul(d, d), 0.5) : sub(sub(exp(d), d), 1);
}
