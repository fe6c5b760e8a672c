/** What the curves of training runs show: trends, phases and trade-offs. */

export * from "./measures.ts";
export * from "./pareto.ts";
export * from "./tradeoff.ts";
