export * from "./byte-pair.ts";
export * from "./encodings.ts";
export * from "./inspect-tokens.ts";
export * from "./tokenizer.ts";
