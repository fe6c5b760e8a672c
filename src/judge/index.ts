export { type DropCounts, DroppedGroups } from "./dropped.ts";
export { FAULTS } from "./embedded/faults.ts";
export {
  type EmbeddedJudge,
  type EmbeddedJudgeOptions,
  startEmbeddedJudge,
} from "./embedded/server.ts";
export { type GroupRequest, groupRequest, PROMPT_VERSION } from "./group-request.ts";
export { type JudgeOptions, openJudge } from "./judge.ts";
export { type EmbeddedOptions, openEmbeddedJudge } from "./open-embedded.ts";
export { DEFAULT_RUBRIC, type Rubric, readRubric } from "./rubric.ts";
