/** What is trained: all parameters, or adapters on weights that stay as they are. */

import { inputsOf, type Placed } from "../graph/parameters.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import { type Bound, boundTo } from "../policy/lane.ts";
import { VECTORS } from "../policy/lanes.ts";
import {
  adapterParameters,
  initialiseAdapters,
  type LoraSettings,
  mergeAdapters,
  withAdapters,
} from "../policy/lora.ts";
import type { Weights } from "../policy/transformer.ts";

export interface Trainable {
  /** The optimiser's vector, and its name on the lanes. */
  readonly vector: string;
  readonly placed: readonly Placed[];
  readonly start: Float32Array;
  /** The policy's weights, out of the vector's. */
  readonly weights: (own: ReadonlyMap<string, Tensor>) => Weights;
  /** The inputs of a graph that are weights. */
  readonly bound: readonly Bound[];
  /** All parameters of the policy, for this vector. */
  readonly whole: (vector: Float32Array) => Float32Array;
}

/** All parameters of the policy. */
export function everything({ placed, parameters }: Checkpoint): Trainable {
  return {
    ...{ vector: VECTORS.policy, placed, start: parameters },
    weights: (own) => (name) => own.get(name) as Tensor,
    bound: [wholeOf(VECTORS.policy, parameters.length)],
    whole: (vector) => vector,
  };
}

/** Adapters lie on the weights that the policy began with, which are those of the reference. */
export function adapters(
  { architecture, placed, parameters }: Checkpoint,
  settings: LoraSettings,
  seed: number,
): Trainable {
  const { list, total } = adapterParameters(architecture, settings);
  return {
    ...{ vector: VECTORS.adapters, placed: list, start: initialiseAdapters(list, total, seed) },
    weights: (own) => withAdapters(inputsOf(placed), own, settings),
    bound: [wholeOf(VECTORS.adapters, total), ...boundTo(VECTORS.reference, placed)],
    whole: (vector) => mergeAdapters(parameters, placed, vector, list, settings),
  };
}

function wholeOf(vector: string, size: number): Bound {
  return { input: "parameters", vector, offset: 0, size };
}
