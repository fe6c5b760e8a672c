export {
  CHECK_SCHEMA,
  type CheckOutcome,
  checkLevel,
  EXTRA_LEVELS,
  LEVELS,
  type LevelOutcome,
  levelOf,
  nextStep,
} from "./check.ts";
export { CheckContext, CheckFailure, type Failure } from "./check-context.ts";
export * from "./diagnose/index.ts";
export { type Commit, Git } from "./git.ts";
export { type InitResult, initWorkspace } from "./init.ts";
export { type Check, EXTRA_IDS, LEVEL_IDS, type Level, type LevelId, TRACK_IDS } from "./level.ts";
export * from "./plan/index.ts";
export * from "./scoreboard/index.ts";
export * from "./workspace.ts";
