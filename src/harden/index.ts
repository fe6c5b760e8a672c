export type { HardenEdit, HardenFind, HardenMutant, HardenReport } from "../runs/harden-report.ts";
export { ATTACK_CLASSES } from "./attacks/index.ts";
export { DEFAULT_INPUTS, type HardenOptions, harden } from "./harden.ts";
export type { Relation } from "./relations.ts";
