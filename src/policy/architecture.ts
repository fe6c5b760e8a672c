/** Models of the Llama family: sizes, and the few ways in which they differ. */

import type { Parameter } from "../graph/parameters.ts";
import { sizeOf } from "../graph/shape.ts";

export interface Architecture {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Fewer than `heads` in grouped-query attention. */
  readonly keyHeads: number;
  readonly headSize: number;
  /** Width of the gated MLP. */
  readonly inner: number;
  readonly epsilon: number;
  readonly ropeTheta: number;
  /** The embedding is also the head. */
  readonly tied: boolean;
  /** Biases on queries, keys and values (Qwen2). */
  readonly biases: boolean;
  /** Norms on each query and key (Qwen3). */
  readonly headNorms: boolean;
  /** Whether the model also predicts the value of each position. */
  readonly valueHead: boolean;
}

/** Parameters in a fixed order, under the names that Hugging Face uses. */
export function parametersOf(a: Architecture): Parameter[] {
  const [query, key] = [a.heads * a.headSize, a.keyHeads * a.headSize];
  const layer = (i: number): Parameter[] => {
    const at = (name: string, ...shape: number[]) => ({ name: `model.layers.${i}.${name}`, shape });
    return [
      at("input_layernorm.weight", a.width),
      at("self_attn.q_proj.weight", query, a.width),
      at("self_attn.k_proj.weight", key, a.width),
      at("self_attn.v_proj.weight", key, a.width),
      ...(a.biases ? [at("self_attn.q_proj.bias", query)] : []),
      ...(a.biases ? ["k", "v"].map((part) => at(`self_attn.${part}_proj.bias`, key)) : []),
      ...(a.headNorms
        ? [at("self_attn.q_norm.weight", a.headSize), at("self_attn.k_norm.weight", a.headSize)]
        : []),
      at("self_attn.o_proj.weight", a.width, query),
      at("post_attention_layernorm.weight", a.width),
      at("mlp.gate_proj.weight", a.inner, a.width),
      at("mlp.up_proj.weight", a.inner, a.width),
      at("mlp.down_proj.weight", a.width, a.inner),
    ];
  };
  return [
    { name: "model.embed_tokens.weight", shape: [a.vocabulary, a.width] },
    ...Array.from({ length: a.layers }, (_, i) => layer(i)).flat(),
    { name: "model.norm.weight", shape: [a.width] },
    ...(a.tied ? [] : [{ name: "lm_head.weight", shape: [a.vocabulary, a.width] }]),
    ...(a.valueHead ? [{ name: "value_head.weight", shape: [1, a.width] }] : []),
  ];
}

/** Work on a score of attention besides its two products, as products: softmax, mask, and their gradients. */
const PER_SCORE = 1.5;

/** How many scores of attention cost as much as the rest of a token. */
export function attentionLength(a: Architecture): number {
  const matrices = parametersOf(a).filter(({ name }) => name.startsWith("model.layers."));
  const products = matrices.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  return products / (2 * PER_SCORE * a.layers * a.heads * a.headSize);
}
