/** The config.json of Hugging Face's Llama, Qwen2 and Qwen3 as an architecture, and back. */

import { z } from "zod";
import { dataError, type LockedRoomError, usageError } from "../core/errors.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { visibleShort } from "../core/visible.ts";
import type { Architecture } from "./architecture.ts";

const TYPES = ["llama", "qwen2", "qwen3"] as const;
type ModelType = (typeof TYPES)[number];

const size = z
  .int()
  .min(1)
  .max(2 ** 31);
const rope = z.looseObject({
  rope_theta: z.number().positive().optional(),
  rope_type: z.string().optional(),
  type: z.string().optional(),
  partial_rotary_factor: z.number().optional(),
});
const tokenIds = z.union([z.int(), z.array(z.int())]).nullish();

/** The fields that are read. */
const CONFIG = z.looseObject({
  model_type: z.enum(TYPES),
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  intermediate_size: size,
  rms_norm_eps: z.number().positive().max(1).optional(),
  rope_theta: z.number().positive().optional(),
  rope_scaling: rope.nullish(),
  rope_parameters: rope.nullish(),
  tie_word_embeddings: z.boolean().optional(),
  max_position_embeddings: size.optional(),
  bos_token_id: z.int().nullish(),
  eos_token_id: tokenIds,
});

export interface ReadConfig extends ConfigDetails {
  readonly architecture: Architecture;
  readonly modelType: ModelType;
}

/** Throws if the config.json describes a model that is not supported. */
export function readConfig(content: JsonObject, file: string): ReadConfig {
  refuseUnsupported(content, file);
  const result = CONFIG.safeParse(content);
  if (!result.success) {
    const issue = result.error.issues[0];
    const key = issue?.path.join(".") ?? "";
    throw refused(file, `${key}: ${issue?.message ?? "it is wrong"}`);
  }
  const config = result.data;
  const [heads, type] = [config.num_attention_heads, config.model_type];
  const keyHeads = config.num_key_value_heads ?? heads;
  if (heads % keyHeads !== 0) {
    throw refused(file, `${heads} heads cannot share ${keyHeads} keys and values`);
  }
  // Qwen3's own default, whatever its width.
  const headSize = config.head_dim ?? (type === "qwen3" ? 128 : config.hidden_size / heads);
  if (!Number.isInteger(headSize) || headSize % 2 !== 0) {
    throw refused(file, `a head of ${headSize} numbers cannot be rotated in pairs`);
  }
  const architecture: Architecture = {
    vocabulary: config.vocab_size,
    width: config.hidden_size,
    layers: config.num_hidden_layers,
    heads,
    keyHeads,
    headSize,
    inner: config.intermediate_size,
    epsilon: config.rms_norm_eps ?? 1e-6,
    ropeTheta: config.rope_parameters?.rope_theta ?? config.rope_theta ?? 10_000,
    tied: config.tie_word_embeddings ?? false,
    biases: type === "qwen2",
    headNorms: type === "qwen3",
    valueHead: false,
  };
  return {
    architecture,
    modelType: type,
    maxLength: config.max_position_embeddings ?? (type === "llama" ? 2048 : 32_768),
    beginToken: config.bos_token_id ?? null,
    endTokens: listOf(config.eos_token_id),
  };
}

/** End tokens of a generation_config.json, which override those of config.json. */
export function endTokensOf(content: JsonObject, file: string): readonly number[] {
  const result = tokenIds.safeParse(content.eos_token_id);
  if (!result.success) throw refused(file, "eos_token_id is neither a number nor a list of them");
  return listOf(result.data);
}

const listOf = (ids: number | number[] | null | undefined): number[] => [ids ?? []].flat();

/** Settings that would give the same weights another meaning. */
function refuseUnsupported(content: JsonObject, file: string): void {
  const not = (key: string, supported: string) =>
    dataError(
      `${file}: ${key} ${visibleShort(canonicalJson(content[key] ?? null), 60)} is not supported`,
      `Supported: ${supported}. Choose another checkpoint.`,
    );
  const { model_type: type } = content;
  if (!TYPES.includes(type as ModelType)) throw not("model_type", TYPES.join(", "));
  if ((content.quantization_config ?? null) !== null) {
    throw not("quantization_config", "weights as F32, F16 or BF16");
  }
  if ((content.hidden_act ?? "silu") !== "silu") throw not("hidden_act", "silu");
  // In Llama and Qwen3 it also adds a bias to o_proj.
  if (type !== "qwen2" && content.attention_bias === true) {
    throw not("attention_bias", "false, or biases on queries, keys and values (qwen2)");
  }
  if (content.mlp_bias === true) throw not("mlp_bias", "false");
  if (content.use_sliding_window === true) throw not("use_sliding_window", "false");
  const layers = content.layer_types ?? [];
  if (!Array.isArray(layers) || layers.some((kind) => kind !== "full_attention")) {
    throw not("layer_types", "full_attention in every layer");
  }
  for (const key of ["rope_scaling", "rope_parameters"]) {
    const found = (content[key] ?? {}) as JsonObject;
    const kind = found.rope_type ?? found.type ?? "default";
    if (kind !== "default") throw not(key, 'the type "default", that is, no scaling');
    if ((found.partial_rotary_factor ?? 1) !== 1) throw not(key, "rotation of whole heads");
  }
  if ((content.partial_rotary_factor ?? 1) !== 1) {
    throw not("partial_rotary_factor", "1");
  }
}

function refused(file: string, problem: string): LockedRoomError {
  return dataError(`${file} describes no model: ${problem}`, "Fetch or write it again.");
}

/** What a config.json states besides the architecture. */
export interface ConfigDetails {
  readonly maxLength: number;
  readonly beginToken: number | null;
  readonly endTokens: readonly number[];
}

/** The config.json with which transformers, too, loads the weights. */
export function configOf(a: Architecture, details: ConfigDetails): JsonObject {
  if (a.biases && a.headNorms) {
    throw usageError("no model of Hugging Face has both biases and norms of heads");
  }
  const type: ModelType = a.headNorms ? "qwen3" : a.biases ? "qwen2" : "llama";
  const { endTokens } = details;
  return {
    architectures: [`${type.charAt(0).toUpperCase()}${type.slice(1)}ForCausalLM`],
    // Qwen2 always has biases.
    ...(type === "qwen2" ? {} : { attention_bias: false }),
    bos_token_id: details.beginToken,
    dtype: "float32",
    eos_token_id: endTokens.length === 1 ? endTokens[0] : endTokens.length === 0 ? null : endTokens,
    head_dim: a.headSize,
    hidden_act: "silu",
    hidden_size: a.width,
    intermediate_size: a.inner,
    max_position_embeddings: details.maxLength,
    model_type: type,
    num_attention_heads: a.heads,
    num_hidden_layers: a.layers,
    num_key_value_heads: a.keyHeads,
    rms_norm_eps: a.epsilon,
    // Newer releases of transformers read the first, older ones the second.
    rope_parameters: { rope_theta: a.ropeTheta, rope_type: "default" },
    rope_theta: a.ropeTheta,
    tie_word_embeddings: a.tied,
    vocab_size: a.vocabulary,
  };
}
