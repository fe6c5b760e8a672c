export { type Advance, advancePlan } from "./advance.ts";
export type { Deliverable, Mark, Rhythm } from "./cadence.ts";
export { type Day, isDay, localDay } from "./calendar.ts";
export type { Evidence, Finding } from "./criterion.ts";
export { DONE, LAST_DAY, PHASES, type Phase } from "./phases.ts";
export { PLAN_FILE } from "./record.ts";
export {
  type Drifted,
  type LookedAt,
  type PhaseStatus,
  type PlanOptions,
  type PlanStatus,
  planStatus,
} from "./status.ts";
