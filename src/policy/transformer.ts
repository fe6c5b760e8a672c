/** The decoder as symbolic tensors: from token ids to the logits of the next token. */

import { add, mul, reciprocal, silu, sqrt, square } from "../graph/ops/elementwise.ts";
import { gather } from "../graph/ops/indexing.ts";
import { reshape, transpose } from "../graph/ops/layout.ts";
import { matmul } from "../graph/ops/product.ts";
import { mean } from "../graph/ops/reduce.ts";
import { softmaxOf } from "../graph/ops/softmax.ts";
import { constant, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";

/** A parameter by the name that Hugging Face gives it. */
export type Weights = (name: string) => Tensor;

/** Logits [batch, length, vocabulary] of every next token, for token ids [batch, length]. */
export function logitsOf(a: Architecture, weights: Weights, tokens: Tensor): Tensor {
  return head(a, weights, hiddenOf(a, weights, tokens));
}

/** What the head reads: [batch, length, width], before the last norm. */
export function hiddenOf(a: Architecture, weights: Weights, tokens: Tensor): Tensor {
  const length = tokens.shape[1] as number;
  const rotation = rotary(a, length);
  const scaled = rotary(a, length, a.headSize ** -0.5);
  const mask = causal(length);
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x);
    const seen = attend(rotated(queries, scaled), rotated(keys, rotation), values, mask);
    x = block.finish(x, seen);
  }
  return x;
}

export function head(a: Architecture, weights: Weights, x: Tensor): Tensor {
  const normed = rmsNorm(x, weights("model.norm.weight"), a.epsilon);
  return linear(normed, weights(a.tied ? "model.embed_tokens.weight" : "lm_head.weight"));
}

/** What each position is worth: [batch, length]. */
export function valuesOf(a: Architecture, weights: Weights, x: Tensor): Tensor {
  const normed = rmsNorm(x, weights("model.norm.weight"), a.epsilon);
  return reshape(linear(normed, weights("value_head.weight")), x.shape.slice(0, -1));
}

/** One layer, in two halves with attention between them. */
export class Block {
  readonly #a: Architecture;
  readonly #own: Weights;

  constructor(a: Architecture, weights: Weights, layer: number) {
    this.#a = a;
    this.#own = (name) => weights(`model.layers.${layer}.${name}`);
  }

  /** Queries, keys and values: [batch, key heads, queries of a key head or 1, length, head size]. */
  heads(x: Tensor): { queries: Tensor; keys: Tensor; values: Tensor } {
    const [batch, length] = x.shape as [number, number];
    const { heads, keyHeads, headSize, biases, headNorms, epsilon } = this.#a;
    const normed = rmsNorm(x, this.#own("input_layernorm.weight"), epsilon);
    const project = (part: "q" | "k" | "v", group: number) => {
      const bias = biases ? this.#own(`self_attn.${part}_proj.bias`) : undefined;
      const y = linear(normed, this.#own(`self_attn.${part}_proj.weight`), bias);
      const split = reshape(y, [batch, length, keyHeads, group, headSize]);
      const sized =
        headNorms && part !== "v"
          ? rmsNorm(split, this.#own(`self_attn.${part}_norm.weight`), epsilon)
          : split;
      return transpose(sized, [0, 2, 3, 1, 4]);
    };
    return {
      queries: project("q", heads / keyHeads),
      keys: project("k", 1),
      values: project("v", 1),
    };
  }

  /** Adds what attention saw, and then the gated part. */
  finish(x: Tensor, seen: Tensor): Tensor {
    const [batch, length] = x.shape as [number, number];
    const { heads, headSize, epsilon } = this.#a;
    const joined = reshape(transpose(seen, [0, 3, 1, 2, 4]), [batch, length, heads * headSize]);
    const y = add(x, linear(joined, this.#own("self_attn.o_proj.weight")));
    const normed = rmsNorm(y, this.#own("post_attention_layernorm.weight"), epsilon);
    const gate = linear(normed, this.#own("mlp.gate_proj.weight"));
    const up = linear(normed, this.#own("mlp.up_proj.weight"));
    const inner = mul(silu(gate), up);
    return add(y, linear(inner, this.#own("mlp.down_proj.weight")));
  }
}

/** Queries come scaled; the mask is added. */
export function attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor): Tensor {
  return matmul(softmaxOf(add(matmul(queries, transpose(keys)), mask)), values);
}

/** x Wᵀ, with W as it is stored: a row for each output. */
function linear(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
  const y = matmul(x, transpose(weight));
  return bias ? add(y, bias) : y;
}

function rmsNorm(x: Tensor, weight: Tensor, epsilon: number): Tensor {
  const scale = reciprocal(sqrt(add(mean(square(x), -1, true), epsilon)));
  return mul(mul(x, scale), weight);
}

export interface Rotation {
  readonly cosine: Tensor;
  readonly sine: Tensor;
  /** Turns a head's halves (a, b) into (-b, a). */
  readonly quarter: Tensor;
}

/**
 * Tables for positions 0 to length - 1: [length, head size]. Those for the queries hold the scale of
 * the attention scores as well, which costs nothing there.
 */
export function rotary({ headSize, ropeTheta }: Architecture, length: number, scale = 1): Rotation {
  const half = headSize / 2;
  const angles = Array.from({ length }, (_, position) =>
    Array.from(
      { length: headSize },
      (_, k) => position * ropeTheta ** (-(2 * (k % half)) / headSize),
    ),
  ).flat();
  const quarter = Array.from({ length: headSize * headSize }, (_, i) => {
    const [row, column] = [Math.floor(i / headSize), i % headSize];
    if (row === column + half) return -1;
    return row + half === column ? 1 : 0;
  });
  return {
    cosine: constant(
      angles.map((angle) => scale * Math.cos(angle)),
      [length, headSize],
    ),
    sine: constant(
      angles.map((angle) => scale * Math.sin(angle)),
      [length, headSize],
    ),
    quarter: constant(quarter, [headSize, headSize]),
  };
}

export function rotated(x: Tensor, { cosine, sine, quarter }: Rotation): Tensor {
  return add(mul(x, cosine), mul(matmul(x, quarter), sine));
}

/** What is added to the score of a place that must not be seen: its weight becomes exactly 0. */
export const HIDDEN = -1e9;

/** A position looks at itself and before. */
export function causal(length: number): Tensor {
  const added = Array.from({ length: length * length }, (_, i) =>
    i % length <= Math.floor(i / length) ? 0 : HIDDEN,
  );
  return constant(added, [length, length]);
}
