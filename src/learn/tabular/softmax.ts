/** Categorical policies over a handful of actions, in plain float64. */

import type { Rng } from "../../core/rng.ts";

export type Vector = readonly number[];

/** π(a) = exp(z_a) / Σ exp(z); only differences between logits matter. */
export function softmax(logits: Vector): number[] {
  const largest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Draws an action by inverting the cumulative distribution. */
export function drawAction(probabilities: Vector, rng: Rng): number {
  return actionAt(probabilities, rng.next());
}

/** The action whose share of the interval from 0 to 1 holds `draw`. */
export function actionAt(probabilities: Vector, draw: number): number {
  let left = draw;
  for (const [action, probability] of probabilities.entries()) {
    left -= probability;
    if (left < 0) return action;
  }
  return probabilities.findLastIndex((probability) => probability > 0); // Only reached by rounding.
}

/** ∇ log π(a) with respect to the logits of a softmax: 1[a] − π. */
export function scoreFunction(probabilities: Vector, action: number): number[] {
  return probabilities.map((probability, other) => (other === action ? 1 : 0) - probability);
}

/** One REINFORCE step on logits: z + lr · A · (1[a] − π). */
export function reinforceStep(
  logits: Vector,
  action: number,
  advantage: number,
  lr: number,
): number[] {
  const direction = scoreFunction(softmax(logits), action);
  return logits.map((logit, i) => logit + lr * advantage * (direction[i] as number));
}

export function expectation(probabilities: Vector, values: Vector): number {
  return probabilities.reduce(
    (sum, probability, i) => sum + probability * (values[i] as number),
    0,
  );
}

/** In nats. */
export function entropy(probabilities: Vector): number {
  return -expectation(
    probabilities,
    probabilities.map((p) => (p > 0 ? Math.log(p) : 0)),
  );
}

/** KL(p ‖ q) in nats; infinite where q is 0 and p is not. */
export function klDivergence(p: Vector, q: Vector): number {
  return p.reduce((sum, pi, i) => (pi > 0 ? sum + pi * Math.log(pi / (q[i] as number)) : sum), 0);
}
