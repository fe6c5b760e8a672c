export type { Activity, DayMark, Deliverable } from "./activity.ts";
export { type Day, isDay, localDay } from "./calendar.ts";
export type { Evidence, Finding } from "./criterion.ts";
export { DONE, LAST_DAY, PHASES, type Phase } from "./phases.ts";
export { PLAN_FILE } from "./record.ts";
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
