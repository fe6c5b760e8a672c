/** The policy on packed rows: the log-probs of all predicted tokens, in one list. */

import { pick, take } from "../graph/ops/indexing.ts";
import { reshape } from "../graph/ops/layout.ts";
import { logSoftmax } from "../graph/ops/softmax.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import type { PackShape } from "./packing.ts";
import { head, hiddenOf, valuesOf, type Weights } from "./transformer.ts";

export type PackedInputs = ReturnType<typeof packedInputs>;

/** What `packedFeeds` fills. */
export function packedInputs(shape: PackShape) {
  const { packs, length, positions: count, targets } = shape;
  return {
    tokens: input("tokens", [packs, length], "i64"),
    layout: {
      positions: input("positions", [packs, length], "i64"),
      count,
      mask: input("visible", [packs, 1, 1, length, length]),
    },
    /** The places whose next token is predicted, and the way back. */
    predicting: input("predicting", [targets], "i64"),
    back: input("predicting_back", [packs * length], "i64"),
    targets: input("targets", [targets], "i64"),
  };
}

export interface PackedPolicy {
  /** Of every token of the vocabulary: [targets, vocabulary]. */
  readonly all: Tensor;
  /** [targets] */
  readonly logprobs: Tensor;
  /** By the value head, before the token: [targets]. */
  readonly values: () => Tensor;
}

/** The head is computed only where a token is predicted. */
export function packedPolicy(
  a: Architecture,
  weights: Weights,
  inputs: PackedInputs,
): PackedPolicy {
  const { tokens, layout, predicting, back, targets } = inputs;
  const hidden = reshape(hiddenOf(a, weights, tokens, undefined, layout), [-1, a.width]);
  const ends = take(hidden, predicting, back);
  const all = logSoftmax(head(a, weights, ends));
  return { all, logprobs: pick(all, targets), values: () => valuesOf(a, weights, ends) };
}
