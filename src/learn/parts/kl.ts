/** How far the policy has moved from its reference: estimators from samples, and a controller. */

import { exp, mul, sub } from "../../graph/ops/elementwise.ts";
import type { Tensor } from "../../graph/tensor.ts";

export type Estimator = "k1" | "k2" | "k3";

/** Of one token, with d = log π_ref − log π. All three have KL(π ‖ π_ref) in view; k2 is biased. */
export function estimate(kind: Estimator, logprob: number, reference: number): number {
  const d = reference - logprob;
  if (kind === "k1") return -d;
  return kind === "k2" ? (d * d) / 2 : Math.exp(d) - d - 1;
}

/** The same in the graph, with a gradient through `logprobs`. */
export function estimateOf(kind: Estimator, logprobs: Tensor, reference: Tensor): Tensor {
  const d = sub(reference, logprobs);
  if (kind === "k1") return sub(logprobs, reference);
  return kind === "k2" ? mul(mul(d, d), 0.5) : sub(sub(exp(d), d), 1);
}

export interface KlControl {
  readonly mode: "none" | "fixed" | "adaptive";
  readonly coefficient: number;
  readonly estimator: Estimator;
  /** Of the adaptive mode: the KL per completion to steer for, and over how many completions. */
  readonly target: number;
  readonly horizon: number;
}

/** The coefficient of the first step. */
export function startCoefficient({ mode, coefficient }: KlControl): number {
  return mode === "none" ? 0 : coefficient;
}

/** A proportional controller with a bounded error (Ziegler and others, 2019, section 2.2). */
export function nextCoefficient(
  { mode, target, horizon }: KlControl,
  coefficient: number,
  seen: number,
  completions: number,
): number {
  if (mode !== "adaptive") return coefficient;
  const error = Math.min(Math.max(seen / target - 1, -0.2), 0.2);
  // A batch beyond the horizon moves it no more than the whole horizon would: it stays above 0.
  return coefficient * (1 + error * Math.min(completions / horizon, 1));
}
