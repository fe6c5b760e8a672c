export {
  type Adapter,
  type AdapterContent,
  adapterVector,
  isAdapter,
  loadAdapter,
  mergedPolicy,
  saveAdapter,
} from "./adapter.ts";
export { type Architecture, parametersOf } from "./architecture.ts";
export * from "./byte-pair.ts";
export * from "./characters.ts";
export * from "./chat.ts";
export * from "./checkpoint.ts";
export { Decoder, type DecoderOptions } from "./decoder.ts";
export { Decoding } from "./decoding.ts";
export * from "./describe.ts";
export * from "./embedded.ts";
export * from "./encodings.ts";
export * from "./export.ts";
export {
  type GeneratedToken,
  type GenerateOptions,
  type Generation,
  type GenerationRequest,
  generateBatch,
  generateSteps,
} from "./generate.ts";
export { HuggingFaceTokenizer } from "./hf-tokenizer.ts";
export { configOf, readConfig } from "./hugging-face.ts";
export * from "./initialise.ts";
export * from "./inspect-tokens.ts";
export * from "./lora.ts";
export { readSafetensors, safetensorsBytes } from "./safetensors.ts";
export * from "./sample-token.ts";
export type { PolicyTokenizer, Tokenizer } from "./tokenizer.ts";
export { hiddenOf, logitsOf, type Weights } from "./transformer.ts";
