export type * from "./engine.ts";
export { wrapEngine } from "./engine.ts";
export { LocalEngine, type LocalEngineOptions } from "./local-engine.ts";
export * from "./loss.ts";
