export * from "./artifacts.ts";
export { kindOf, listRuns, type RunEntry } from "./catalogue.ts";
export { RowCursor } from "./cursor.ts";
export type { FinishedPairs } from "./finished-pairs.ts";
export type { FinishedRollout } from "./finished-rollout.ts";
export * from "./gate-report.ts";
export * from "./json-schemas.ts";
export { JsonlFile, MAX_LINE_BYTES, type ReadOptions } from "./jsonl.ts";
export { describeKind, type KindDescription, type RunKind } from "./kinds.ts";
export { manifestFingerprint, observeOccasion, packageVersion } from "./manifest.ts";
export type { FolderOptions } from "./may-write.ts";
export { runNote, summaryText, warnings } from "./note.ts";
export * from "./pairs-schemas.ts";
export { provenancePath, readProvenance } from "./provenance.ts";
export {
  readTrainingRun,
  type TrainingRunRecords,
  type TrainingStep,
} from "./read-training-run.ts";
export { openRun, type Run } from "./reader.ts";
export * from "./record-schemas.ts";
export { type FolderKind, folderKind, requireKind } from "./require-kind.ts";
export * from "./rollout-schemas.ts";
export { type InputEntry, openRows, type RowSource, type Rows } from "./rows.ts";
export { type Files, type Finished, RunFolder } from "./run-folder.ts";
export type { RunState } from "./run-state.ts";
export * from "./schemas.ts";
export { type FinishedRun, finishScoredRun, type RunEnd } from "./scored-run.ts";
export { type Tail, tail } from "./tail.ts";
export * from "./train-records.ts";
export * from "./train-schemas.ts";
export * from "./validation-report.ts";
