export { SABOTAGES, sabotagesNamed } from "./catalogue/index.ts";
export { type LaboratoryOptions } from "./laboratory.ts";
export { type SabotageOptions, type SabotageResult, runSabotages } from "./run.ts";
export type { Caught, Finding, Sabotage, Uncaught } from "./sabotage.ts";
