/**
 * Locked Room as a library: what is needed to measure, select and learn. Each name has an example
 * that is compiled and run by the tests; everything else is in the subpaths, such as
 * `lockedroom/stats`.
 *
 * @packageDocumentation
 */

export { LockedRoomError } from "./core/errors.ts";
export { fingerprint } from "./core/fingerprint.ts";
export { canonicalJson, type Json, type JsonObject } from "./core/json.ts";
export type { GroupJudge, GroupToJudge, GroupVerdict } from "./core/judge.ts";
export type { Policy, SamplingSettings } from "./core/policy.ts";
export type {
  Completion,
  Example,
  ExampleFields,
  GoldenRow,
  Sample,
  SelectionPack,
} from "./core/records.ts";
export { type Rng, rngAt } from "./core/rng.ts";
export {
  type CheckedScore,
  type GuardedScorer,
  passes,
  type ScoreRequest,
  type ScoreResult,
  type Scorer,
  type ScorerIdentity,
} from "./core/score.ts";
export { GATE_EXIT, gate } from "./gate/gate.ts";
export type { GateOptions } from "./gate/options.ts";
export { gateMarkdown } from "./gate/render.ts";
export { type JudgeOptions, openJudge } from "./judge/judge.ts";
export type { TrainedPolicy, TrainOptions } from "./learn/options.ts";
export { train } from "./learn/train.ts";
export type { Axis } from "./loops/axes.ts";
export { pickBest, type ScoredSample } from "./loops/decide.ts";
export { type EvalOptions, evaluate } from "./loops/eval.ts";
export { makePairs, type PairsOptions } from "./loops/preference-pairs.ts";
export { type RolloutOptions, rollout } from "./loops/rollout.ts";
export type { ScoringOptions } from "./loops/scoring-run.ts";
export { type SelectOptions, select } from "./loops/select.ts";
export {
  builtInPolicy,
  loadSelectionPolicy,
  type SelectionPolicy,
} from "./loops/selection-policy.ts";
export type { StatedProvenance } from "./loops/stated.ts";
export { type GoldenReport, type ValidateOptions, validateScorer } from "./loops/validate.ts";
export { openEmbeddedPolicy } from "./policy/embedded.ts";
export { openOpenAiPolicy } from "./providers/openai.ts";
export { verdictReport } from "./report/gate/report.ts";
export { inspectRun } from "./report/inspect.ts";
export { report } from "./report/report.ts";
export { trainingReport } from "./report/training/report.ts";
export type { GateReport } from "./runs/gate-report.ts";
export { openRun, type Run } from "./runs/reader.ts";
export type { RowSource } from "./runs/rows.ts";
export type { Manifest, ResultRow, Summary } from "./runs/schemas.ts";
export type { FinishedRun } from "./runs/scored-run.ts";
export { mathFinalLine } from "./scorers/math-final-line.ts";
export { type AnyScorer, type OpenScorerOptions, openScorer } from "./scorers/open.ts";
export { mcnemarExact } from "./stats/mcnemar.ts";
export { passAtK } from "./stats/pass-at-k.ts";
export { minimumDetectableEffect } from "./stats/power.ts";
export { wilsonInterval } from "./stats/wilson.ts";
