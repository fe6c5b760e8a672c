export * from "./errors.ts";
export * from "./fingerprint.ts";
export * from "./json.ts";
export * from "./knobs.ts";
export * from "./records.ts";
export * from "./rng.ts";
export * from "./score.ts";
export * from "./visible.ts";
