export * from "./data-files.ts";
export * from "./error-model.ts";
export * from "./frozen.ts";
export * from "./golden.ts";
export * from "./problems.ts";
export * from "./splits.ts";
