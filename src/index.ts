/**
 * Locked Room as a library. Everything the command line does can be called from here.
 *
 * @example
 * ```ts
 * import { evaluate, gate, openScorer } from "lockedroom";
 *
 * const scoring = await openScorer("math_final_line");
 * const { summary } = await evaluate({ dataset, completions, outdir: "runs/a", scoring });
 * await scoring.close();
 * const verdict = await gate({ baseline: "runs/a", candidate: "runs/b", claim: "policy" });
 * ```
 */

export * from "./charts/index.ts";
export * from "./core/index.ts";
export * from "./datasets/index.ts";
export * from "./extensions/index.ts";
export * from "./gate/index.ts";
export * from "./learn/index.ts";
export * from "./loops/index.ts";
export * from "./policy/index.ts";
export * from "./providers/index.ts";
export * from "./report/index.ts";
export * from "./runs/index.ts";
export * from "./scorers/index.ts";
export * from "./stats/index.ts";
