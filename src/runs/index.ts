export { type AliasEntry, aliasEntrySchema } from "./alias-entry.ts";
export { type AliasPlace, aliasPlace, listAliases, readAlias } from "./alias-history.ts";
export * from "./artifacts.ts";
export { kindOf, listRuns, type RunEntry } from "./catalogue.ts";
export type { FinishedRollout } from "./finished-rollout.ts";
export { type FolderKind, type RunState, requireKind } from "./folder-kind.ts";
export * from "./gate-report.ts";
export * from "./harden-report.ts";
export * from "./json-schemas.ts";
export { JsonlFile, type ReadOptions } from "./jsonl.ts";
export * from "./judge-audit-schema.ts";
export { describeKind, type KindDescription, type RunKind } from "./kinds.ts";
export {
  manifestFingerprint,
  observeOccasion,
  packageVersion,
  provenancePath,
  readProvenance,
} from "./manifest.ts";
export { scoredFacts } from "./note-facts.ts";
export * from "./preference-schemas.ts";
export {
  auditTrusted,
  type OpenedJudgeAudit,
  openJudgeAudit,
  whyNotTrusted,
} from "./read-judge-audit.ts";
export { openPairs, type PreferenceData } from "./read-pairs.ts";
export { openRollout, type Rollout } from "./read-rollout.ts";
export {
  readTrainingRun,
  type TrainingRunRecords,
  type TrainingStep,
} from "./read-training-run.ts";
export { openRun, type Run } from "./reader.ts";
export * from "./record-schemas.ts";
export * from "./review-schemas.ts";
export * from "./rollout-schemas.ts";
export { type InputEntry, openRows, type RowSource, type Rows } from "./rows.ts";
export type { FolderOptions } from "./run-folder.ts";
export { type Files, type Finished, RunFolder } from "./run-folder.ts";
export { FAILURE_TYPES, NOTE_FIELDS, type NoteFacts, runNote } from "./run-note.ts";
export {
  type Manifest,
  manifestSchema,
  type Provenance,
  provenanceSchema,
  type ResultRow,
  resultRowSchema,
  type Summary,
  summarySchema,
  type Volatile,
} from "./schemas.ts";
export { type FinishedRun, finishScoredRun, type RunEnd } from "./scored-run.ts";
export { readSeal, type Seal, sealSchema } from "./seal-record.ts";
export * from "./stop-reasons.ts";
export { summaryText, warnings } from "./summary-text.ts";
export * from "./sweep-schema.ts";
export { type Tail, tail } from "./tail.ts";
export * from "./train-records.ts";
export * from "./train-schemas.ts";
export { tokensUsed, totalSeconds } from "./training-cost.ts";
export * from "./validation-report.ts";
export {
  readVerification,
  type Verification,
  type VerificationPart,
  verificationLine,
  verificationSchema,
  writeVerification,
} from "./verification.ts";
