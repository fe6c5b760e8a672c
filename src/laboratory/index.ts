export { SABOTAGES, sabotagesNamed } from "./catalogue/index.ts";
export type { Check, Finding, Outcome } from "./finding.ts";
export type { LaboratoryOptions } from "./laboratory.ts";
export { sabotageCounts, sabotageMarkdown } from "./render.ts";
export { runSabotages, type SabotageOptions } from "./run.ts";
export type { Caught, Family, Sabotage, Uncaught } from "./sabotage.ts";
