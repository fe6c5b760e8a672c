/** What of a policy is trained: all of it, or low-rank adapters on a frozen base. */

import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import {
  adapterParameters,
  initialiseAdapters,
  type LoraSettings,
  mergeAdapters,
  withAdapters,
} from "../policy/lora.ts";
import type { Weights } from "../policy/transformer.ts";
import type { Feeds } from "./trainer.ts";

export interface Trainable {
  /** The optimiser's vector. */
  readonly placed: readonly Placed[];
  readonly start: Float32Array;
  /** The policy's weights, out of the vector's. */
  readonly weights: (own: ReadonlyMap<string, Tensor>) => Weights;
  /** Fed at every step besides the batch. */
  readonly feeds: Feeds;
  /** All parameters of the policy, for this vector. */
  readonly whole: (vector: Float32Array) => Float32Array;
}

export function everything({ placed, parameters }: Checkpoint): Trainable {
  return {
    placed,
    start: parameters,
    weights: (own) => (name) => own.get(name) as Tensor,
    feeds: {},
    whole: (vector) => vector,
  };
}

export function adapters(
  { architecture, placed, parameters }: Checkpoint,
  settings: LoraSettings,
  seed: number,
): Trainable {
  const { list, total } = adapterParameters(architecture, settings);
  return {
    placed: list,
    start: initialiseAdapters(list, total, seed),
    weights: (own) => withAdapters(inputsOf(placed), own, settings),
    feeds: feedsOf(parameters, placed),
    whole: (vector) => mergeAdapters(parameters, placed, vector, list, settings),
  };
}
