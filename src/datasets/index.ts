export * from "./arithmetic/index.ts";
