import { expect, test } from "vitest";
import type { Json } from "../core/json.ts";
import { configOf, endTokensOf, readConfig } from "./hugging-face.ts";
import { SIZES } from "./initialise.ts";

const LLAMA = {
  model_type: "llama",
  vocab_size: 100,
  hidden_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  intermediate_size: 96,
};
const read = (changes: Record<string, Json>) => readConfig({ ...LLAMA, ...changes }, "c.json");

test("defaults are those of transformers", () => {
  expect(read({})).toEqual({
    architecture: {
      ...{ vocabulary: 100, width: 48, layers: 2, heads: 6, keyHeads: 2, headSize: 8, inner: 96 },
      ...{ epsilon: 1e-6, ropeTheta: 10_000, tied: false },
      ...{ biases: false, headNorms: false, valueHead: false },
    },
    modelType: "llama",
    maxLength: 2048,
    beginToken: null,
    endTokens: [],
  });
  expect(read({ num_key_value_heads: null }).architecture.keyHeads).toBe(6);
  expect(read({ model_type: "qwen2" }).architecture.biases).toBe(true);
  expect(read({ model_type: "qwen3" }).architecture).toMatchObject({
    headNorms: true,
    headSize: 128,
  });
});

test("the base of the rotation has two homes", () => {
  expect(read({ rope_theta: 5e5 }).architecture.ropeTheta).toBe(5e5);
  const rope_parameters = { rope_theta: 1e6, rope_type: "default" };
  expect(read({ rope_theta: 5e5, rope_parameters }).architecture.ropeTheta).toBe(1e6);
  expect(read({ rope_scaling: null }).architecture.ropeTheta).toBe(10_000);
});

test("one end token or several", () => {
  expect(read({ eos_token_id: 3, bos_token_id: 1 })).toMatchObject({
    endTokens: [3],
    beginToken: 1,
  });
  expect(endTokensOf({ eos_token_id: [4, 5] }, "g")).toEqual([4, 5]);
  expect(endTokensOf({}, "g")).toEqual([]);
  expect(() => endTokensOf({ eos_token_id: "x" }, "g.json")).toThrow("g.json");
});

test.each<[named: string, changes: Record<string, Json>]>([
  ['model_type "gpt2" is not supported', { model_type: "gpt2" }],
  ["model_type null is not supported", { model_type: null }],
  ['hidden_act "gelu"', { hidden_act: "gelu" }],
  ["rope_scaling", { rope_scaling: { rope_type: "llama3", factor: 8 } }],
  ["rope_scaling", { rope_scaling: { type: "linear", factor: 2 } }],
  ["rope_parameters", { rope_parameters: { rope_type: "yarn" } }],
  ["rope_parameters", { rope_parameters: { partial_rotary_factor: 0.5 } }],
  ["use_sliding_window true", { model_type: "qwen2", use_sliding_window: true }],
  ["layer_types", { layer_types: ["full_attention", "sliding_attention"] }],
  ["attention_bias true", { attention_bias: true }],
  ["mlp_bias true", { mlp_bias: true }],
  ["quantization_config", { quantization_config: { quant_method: "gptq" } }],
  ["hidden_size", { hidden_size: 0 }],
  ["vocab_size", { vocab_size: "many" }],
  ["cannot share 4 keys", { num_key_value_heads: 4 }],
  ["a head of 9.6 numbers", { num_attention_heads: 5, num_key_value_heads: 5 }],
  ["a head of 7 numbers", { head_dim: 7 }],
])("refused: %s", (named, changes) => {
  expect(() => read(changes)).toThrow(named);
  expect(() => read(changes)).toThrow(/^c\.json/);
});

test.each(["nano", "micro", "small"] as const)("%s comes back from what is written", (size) => {
  const kinds = [{}, { biases: true }, { headNorms: true, tied: false, keyHeads: 2 }];
  for (const kind of kinds) {
    const architecture = { ...SIZES[size], vocabulary: 70, ...kind };
    const details = { maxLength: 99, beginToken: 1, endTokens: [2, 3] };
    const config = configOf(architecture, details);
    expect(readConfig(config, "c")).toMatchObject({ architecture, ...details });
  }
});
