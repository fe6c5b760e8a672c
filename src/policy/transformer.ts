/** The decoder as symbolic tensors: from token ids to the logits of the next token. */

import { add, lessOrEqual, mul, silu, where } from "../graph/ops/elementwise.ts";
import { gather } from "../graph/ops/indexing.ts";
import { reshape, transpose } from "../graph/ops/layout.ts";
import { rmsNorm } from "../graph/ops/norm.ts";
import { matmul } from "../graph/ops/product.ts";
import { rotate } from "../graph/ops/rotate.ts";
import { attention } from "../graph/ops/softmax.ts";
import { constant, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";

/** A parameter by the name that Hugging Face gives it. */
export type Weights = (name: string) => Tensor;

/** Logits [batch, length, vocabulary] of every next token, for token ids [batch, length]. */
export function logitsOf(a: Architecture, weights: Weights, tokens: Tensor): Tensor {
  return head(a, weights, hiddenOf(a, weights, tokens));
}

/** Called in each layer with its input, keys and values. */
type OnLayer = (layer: number, x: Tensor, keys: Tensor, values: Tensor) => void;

/** Where the tokens of a batch lie in their texts, and which of them each may see. */
export interface TokenLayout {
  /** [batch, length]: below `count`. */
  readonly positions: Tensor;
  readonly count: number;
  /** Added to the scores of attention: 0 or `MASKED`. Its last axes are [length, length]. */
  readonly mask: Tensor;
}

/** The input of the head: [batch, length, width], before the last norm. Rows are texts unless laid out otherwise. */
export function hiddenOf(
  a: Architecture,
  weights: Weights,
  tokens: Tensor,
  onLayer: OnLayer = () => {},
  { positions, count, mask }: TokenLayout = oneTextPerRow(tokens),
): Tensor {
  const rotations = rotationsOf(a, positions, count);
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x, rotations);
    onLayer(i, x, keys, values);
    x = block.finish(x, attend(a, queries, keys, values, mask));
  }
  return x;
}

export function head(a: Architecture, weights: Weights, x: Tensor): Tensor {
  const normed = rmsNorm(x, weights("model.norm.weight"), a.epsilon);
  return linear(normed, weights(a.tied ? "model.embed_tokens.weight" : "lm_head.weight"));
}

/** The value of each position: [batch, length]. */
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

  /**
   * Queries, keys and values of all heads: [batch, length, heads or key heads × head size].
   * Queries and keys are rotated by their positions, and queries are scaled.
   */
  heads(x: Tensor, rotations: Rotations) {
    const { headSize, biases, headNorms, epsilon } = this.#a;
    const normed = rmsNorm(x, this.#own("input_layernorm.weight"), epsilon);
    const project = (part: "q" | "k" | "v") => {
      const bias = biases ? this.#own(`self_attn.${part}_proj.bias`) : undefined;
      return linear(normed, this.#own(`self_attn.${part}_proj.weight`), bias);
    };
    const rotated = (part: "q" | "k", { cosine, sine }: RotaryTable) => {
      const y = project(part);
      const split = reshape(y, [...x.shape.slice(0, -1), -1, headSize]);
      const sized = headNorms
        ? rmsNorm(split, this.#own(`self_attn.${part}_norm.weight`), epsilon)
        : split;
      return rotate(reshape(sized, y.shape), rotations.positions, cosine, sine);
    };
    return {
      queries: rotated("q", rotations.queries),
      keys: rotated("k", rotations.keys),
      values: project("v"),
    };
  }

  /** Adds the output of attention, [batch, length, heads × head size], and then the gated MLP. */
  finish(x: Tensor, attention: Tensor): Tensor {
    const { epsilon } = this.#a;
    const y = add(x, linear(attention, this.#own("self_attn.o_proj.weight")));
    const normed = rmsNorm(y, this.#own("post_attention_layernorm.weight"), epsilon);
    const gate = linear(normed, this.#own("mlp.gate_proj.weight"));
    const up = linear(normed, this.#own("mlp.up_proj.weight"));
    const inner = mul(silu(gate), up);
    return add(y, linear(inner, this.#own("mlp.down_proj.weight")));
  }
}

/** The output of attention: [batch, length, heads × head size]. The mask is added to the scores. */
function attend(
  a: Architecture,
  queries: Tensor,
  keys: Tensor,
  values: Tensor,
  mask: Tensor,
): Tensor {
  const scores = add(matmul(byHead(a, queries), transpose(byHead(a, keys))), mask);
  const output = attention(scores, byHead(a, values));
  return reshape(transpose(output, [0, 3, 1, 2, 4]), queries.shape);
}

/** [batch, key heads, queries of a key head or 1, length, head size] */
export function byHead({ keyHeads, headSize }: Architecture, x: Tensor): Tensor {
  const [batch, length] = x.shape as [number, number];
  return transpose(reshape(x, [batch, length, keyHeads, -1, headSize]), [0, 2, 3, 1, 4]);
}

/** x Wᵀ, with W as it is stored: a row for each output. */
function linear(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
  const y = matmul(x, transpose(weight));
  return bias ? add(y, bias) : y;
}

/** [positions, head size / 2] */
interface RotaryTable {
  readonly cosine: Tensor;
  readonly sine: Tensor;
}

/** How queries and keys are rotated, in every layer. */
interface Rotations {
  /** Of the tokens: [batch, length]. */
  readonly positions: Tensor;
  readonly queries: RotaryTable;
  readonly keys: RotaryTable;
}

/**
 * With tables for `count` positions. Those for queries include the scale of the attention scores,
 * which costs nothing there.
 */
export function rotationsOf(a: Architecture, positions: Tensor, count: number): Rotations {
  return { positions, queries: rotary(a, count, a.headSize ** -0.5), keys: rotary(a, count) };
}

function rotary({ headSize, ropeTheta }: Architecture, length: number, scale = 1): RotaryTable {
  const half = headSize / 2;
  const table = (wave: (angle: number) => number) =>
    constant(
      Array.from({ length: length * half }, (_, i) => {
        const [position, k] = [Math.floor(i / half), i % half];
        return scale * wave(position * ropeTheta ** ((-2 * k) / headSize));
      }),
      [length, half],
    );
  return { cosine: table(Math.cos), sine: table(Math.sin) };
}

function oneTextPerRow({ shape }: Tensor): TokenLayout {
  const [batch, length] = shape as [number, number];
  return { positions: fromZero(batch, length), count: length, mask: causal(length) };
}

/** The positions of rows that begin at 0. */
function fromZero(batch: number, length: number): Tensor {
  return constant(
    Array.from({ length: batch * length }, (_, i) => i % length),
    [batch, length],
    "i64",
  );
}

/** Added to the scores of masked positions: their weight becomes exactly 0. */
export const MASKED = -1e9;

/** Each position attends to itself and earlier ones. */
function causal(length: number): Tensor {
  const positions = Array.from({ length }, (_, i) => i);
  const [rows, columns] = [
    constant(positions, [length, 1], "i64"),
    constant(positions, [1, length], "i64"),
  ];
  // Computed by the graph, because a constant with all pairs is large.
  return where(lessOrEqual(columns, rows), 0, MASKED);
}
