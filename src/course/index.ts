export {
  CHECK_SCHEMA,
  type CheckOutcome,
  checkLevel,
  type LevelOutcome,
  nextStep,
} from "./check.ts";
export { Gap, type Lack } from "./gap.ts";
export { type Commit, Git } from "./git.ts";
export { initWorkspace, type Made } from "./init.ts";
export { type Check, LEVEL_IDS, type Level, type LevelId } from "./level.ts";
export { LEVELS, levelOf } from "./levels/index.ts";
export * from "./plan/index.ts";
export { Room } from "./room.ts";
export * from "./scoreboard/index.ts";
export * from "./workspace.ts";
