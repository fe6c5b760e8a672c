/** What the curves of training runs show: trends, the nine cells, phases and trade-offs. */

export * from "./divergence.ts";
export * from "./divergence-limits.ts";
export * from "./measures.ts";
export * from "./nine-cells.ts";
export * from "./pareto.ts";
export * from "./phases.ts";
export * from "./tradeoff.ts";
export { jitter, type PairedShift, pairedShift, trend } from "./trend.ts";
