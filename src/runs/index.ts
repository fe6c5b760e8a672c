export * from "./artifacts.ts";
export { RowCursor } from "./cursor.ts";
export * from "./gate-report.ts";
export * from "./json-schemas.ts";
export { JsonlFile, MAX_LINE_BYTES, type ReadOptions } from "./jsonl.ts";
export { manifestFingerprint, observeOccasion, packageVersion } from "./manifest.ts";
export { runNote, summaryText, warnings } from "./note.ts";
export type { FinishedPairs } from "./pairs-folder.ts";
export * from "./pairs-schemas.ts";
export { provenancePath, readProvenance } from "./provenance.ts";
export { openRun, type Run } from "./reader.ts";
export * from "./record-schemas.ts";
export type { FinishedRollout } from "./rollout-folder.ts";
export type { Journaled } from "./rollout-journal.ts";
export * from "./rollout-schemas.ts";
export { type InputEntry, openRows, type RowSource, type Rows } from "./rows.ts";
export * from "./schemas.ts";
export * from "./train-schemas.ts";
export {
  readTrainingRun,
  type TrainingAlarm,
  type TrainingEvaluation,
  type TrainingRun,
  type TrainingSample,
  type TrainingStep,
  type TrainingTiming,
} from "./training-records.ts";
export * from "./validation-report.ts";
export { type FinishedRun, type RunEnd, RunWriter, type WriterOptions } from "./writer.ts";
