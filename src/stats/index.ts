export * from "./binomial.ts";
export * from "./difference-counts.ts";
export * from "./mcnemar.ts";
export * from "./normal-quantile.ts";
export * from "./paired.ts";
export * from "./pass-at-k.ts";
export * from "./power.ts";
export * from "./wilson.ts";
