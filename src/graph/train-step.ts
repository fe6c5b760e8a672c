/**
 * How a training step becomes a graph. Read from top to bottom:
 *
 *   1. the parameters are one flat vector, cut into named tensors;
 *   2. the model computes a loss from them and the batch;
 *   3. `gradients` appends the backward pass, one gradient for each tensor, joined to a vector;
 *   4. the vector is clipped to a global norm;
 *   5. AdamW with bias correction moves the parameters and its two moments.
 *
 * Two graphs, because threads share the parts of a batch: `gradientStep` does 1 to 3 for each part, and
 * `updateStep` does 4 and 5 with the sum of the gradients.
 */

import { gradients } from "./gradients.ts";
import { add, div, minimum, mul, sqrt, square, sub } from "./ops/elementwise.ts";
import { concat, reshape } from "./ops/layout.ts";
import { sum } from "./ops/reduce.ts";
import { type Placed, views } from "./parameters.ts";
import { input, scalar, type Tensor } from "./tensor.ts";

export interface AdamSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled, and applied to every parameter alike. */
  readonly weightDecay: number;
  /** Largest global norm of the gradient; 0 for no limit. */
  readonly clipNorm: number;
}

export const ADAM: AdamSettings = {
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

/** The output of a model for a batch: a loss and metrics. */
export type Model = (parameters: ReadonlyMap<string, Tensor>) => {
  readonly loss: Tensor;
  readonly metrics?: Readonly<Record<string, Tensor>>;
};

/** Named results: the gradient of one part of a batch, its loss and metrics. */
export function gradientStep(
  placed: readonly Placed[],
  total: number,
  model: Model,
): Record<string, Tensor> {
  const tensors = views(input("parameters", [total]), placed);
  const { loss, metrics = {} } = model(tensors);
  const slopes = gradients(loss, [...tensors.values()]);
  const gradient = concat(
    slopes.map((slope) => reshape(slope, [slope.size])),
    0,
  );
  return { gradient, loss, ...metrics };
}

/**
 * Named results: the state after AdamW on the clipped gradient, and the gradient's norm before clipping.
 * `learning_rate` is fed, so that any schedule works; `correction1` and `correction2` are
 * 1 / (1 - beta^t), which the caller counts. Every line about a whole vector reads all of memory once,
 * so what is a single number is multiplied together first.
 */
export function updateStep(total: number, settings: AdamSettings = ADAM): Record<string, Tensor> {
  const { beta1, beta2, epsilon, weightDecay } = settings;
  const [vector, gradient] = [input("parameters", [total]), input("gradient", [total])];
  const [m, v] = [input("m", [total]), input("v", [total])];
  const [rate, correction1, correction2] = [
    input("learning_rate", []),
    input("correction1", []),
    input("correction2", []),
  ];
  const squares = square(gradient);
  const norm = sqrt(totalOf(squares));
  const kept = keptShare(norm, settings);
  const nextM = add(mul(m, beta1), mul(gradient, mul(kept, 1 - beta1)));
  const nextV = add(mul(v, beta2), mul(squares, mul(square(kept), 1 - beta2)));
  const spread = sqrt(correction2);
  const step = mul(
    div(nextM, add(sqrt(nextV), div(epsilon, spread))),
    div(mul(rate, correction1), spread),
  );
  const decayed = weightDecay === 0 ? vector : sub(vector, mul(vector, mul(rate, weightDecay)));
  return {
    next_parameters: sub(decayed, step),
    next_m: nextM,
    next_v: nextV,
    gradient_norm: norm,
  };
}

/** The factor of gradient clipping, from 0 to 1. */
function keptShare(norm: Tensor, { clipNorm }: AdamSettings): Tensor {
  if (clipNorm === 0) return scalar(1);
  // The small number avoids a division by zero.
  return minimum(div(clipNorm, add(norm, 1e-12)), 1);
}

/** The longest row that one thread sums. */
const LONGEST_ROW = 4096;

/**
 * The sum of a vector: of rows, each by one thread, and then of what they gave, by a product. The
 * runtime would split one long sum, and with it the rounding, by the number of threads.
 */
function totalOf(vector: Tensor): Tensor {
  let row = Math.min(LONGEST_ROW, vector.size);
  while (vector.size % row !== 0) row--;
  return sum(sum(reshape(vector, [-1, row]), 1), 0);
}
