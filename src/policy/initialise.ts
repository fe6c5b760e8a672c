/** Initial weights from a random seed, and three sizes for a policy from scratch. */

import { type Rng, rngAt } from "../core/rng.ts";
import { place } from "../graph/parameters.ts";
import { type Architecture, parametersOf } from "./architecture.ts";

export type Size = "nano" | "micro" | "small";

const OWN = {
  epsilon: 1e-6,
  ropeTheta: 10_000,
  tied: true,
  biases: false,
  headNorms: false,
  valueHead: false,
} as const;

/** About 0.1, 0.8 and 5 million parameters. */
export const SIZES: Record<Size, Omit<Architecture, "vocabulary">> = {
  nano: { ...OWN, width: 64, layers: 2, heads: 4, keyHeads: 4, headSize: 16, inner: 168 },
  micro: { ...OWN, width: 128, layers: 4, heads: 4, keyHeads: 4, headSize: 32, inner: 344 },
  small: { ...OWN, width: 256, layers: 6, heads: 8, keyHeads: 8, headSize: 32, inner: 688 },
};

const DEVIATION = 0.02;

/**
 * All parameters in the order of `place(parametersOf(architecture))`. The random numbers of each are
 * addressed by its name, so that another vocabulary or value head does not change the others.
 * Projections into the residual stream are scaled by the number of layers (GPT-2, section 2.3).
 */
export function initialise(architecture: Architecture, seed: number): Float32Array {
  const { list, total } = place(parametersOf(architecture));
  const parameters = new Float32Array(total);
  const residual = DEVIATION / Math.sqrt(2 * architecture.layers);
  for (const { name, offset, size } of list) {
    const values = parameters.subarray(offset, offset + size);
    if (/norm\.weight$/.test(name)) values.fill(1);
    else if (/\.bias$|^value_head\./.test(name)) values.fill(0);
    else {
      const deviation = /\.(o|down)_proj\./.test(name) ? residual : DEVIATION;
      const rng = rngAt(seed, "initialise", name);
      for (let i = 0; i < size; i++) values[i] = deviation * almostNormal(rng);
    }
  }
  return parameters;
}

/**
 * The sum of twelve uniforms, which has the variance 1. Sums are exact, whereas logarithms and cosines
 * differ in the last bit between JavaScript engines.
 */
function almostNormal(rng: Rng): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += rng.next();
  return sum;
}
