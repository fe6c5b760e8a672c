export { CAUSE_NAMES, CAUSES, type Cause, isCause } from "./causes.ts";
export { type MarkedCase, markDrill, newDrill, type ShownCase } from "./drill.ts";
