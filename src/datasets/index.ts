export * from "./arithmetic/data-files.ts";
export * from "./arithmetic/error-model.ts";
export * from "./arithmetic/frozen.ts";
export * from "./arithmetic/golden.ts";
export * from "./arithmetic/problems.ts";
export * from "./arithmetic/splits.ts";
