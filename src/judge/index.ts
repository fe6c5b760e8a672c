export { AUDIT_DEFAULTS, type AuditQuestion, auditOf } from "../audit/audit.ts";
export { embeddedReplies } from "../audit/embedded-data.ts";
export { accuracyNeededFor, type GateQuestion, gatePowerAt } from "../audit/gate-power.ts";
export type { LabelledData, LabelledGroup, LabelledPair } from "../audit/labelled.ts";
export type {
  GroupJudge,
  GroupToJudge,
  GroupVerdict,
  JudgeIdentity,
  Judgement,
} from "../core/judge.ts";
export { readPairsFile } from "./audit/pairs-file.ts";
export { auditJudge, type FinishedJudgeAudit, type JudgeAuditOptions } from "./audit/run.ts";
export { readTrajectoryData } from "./audit/trajectory-data.ts";
export { type DropCounts, DroppedGroups } from "./dropped.ts";
export { FAULTS } from "./embedded/faults.ts";
export {
  type EmbeddedJudge,
  type EmbeddedJudgeOptions,
  startEmbeddedJudge,
} from "./embedded/server.ts";
export { type GroupRequest, groupRequest, PROMPT_VERSION } from "./group-request.ts";
export { type JudgeOptions, openJudge } from "./judge.ts";
export { type JudgedTogether, type JudgeTogetherOptions, judgeTogether } from "./judge-together.ts";
export { type EmbeddedOptions, openEmbeddedJudge } from "./open-embedded.ts";
export type { Preferences } from "./preferences.ts";
export { DEFAULT_RUBRIC, type Rubric, readRubric } from "./rubric.ts";
export { type ScoreTrajectoriesOptions, scoreTrajectories } from "./score-trajectories.ts";
