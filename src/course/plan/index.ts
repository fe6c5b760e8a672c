export type { Activity, DayMark, Deliverable } from "./activity.ts";
export { type Day, DONE, isDay, LAST_DAY, localDay, PHASES, type Phase } from "./calendar.ts";
export type { Evidence, Finding } from "./criterion.ts";
export { type LoopStatus, STAGES, type Stage, type StageStatus } from "./loop.ts";
export { PLAN_FILE } from "./record.ts";
export { documentedSteps, REPRODUCTION, type Reproduction, reproduce } from "./reproduction.ts";
export {
  type Advance,
  advancePlan,
  type ChangedEvidence,
  type CriterionStatus,
  type PhaseStatus,
  type PlanOptions,
  type PlanStatus,
  planStatus,
} from "./status.ts";
