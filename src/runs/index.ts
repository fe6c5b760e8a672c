export * from "./artifacts.ts";
export { JsonlFile, MAX_LINE_BYTES, type ReadOptions } from "./jsonl.ts";
export { manifestFingerprint, observeOccasion, packageVersion } from "./manifest.ts";
export { runNote, summaryText, warnings } from "./note.ts";
export { provenancePath, readProvenance } from "./provenance.ts";
export { openRun, type Run } from "./reader.ts";
export * from "./schemas.ts";
export { RunWriter, type WriterOptions } from "./writer.ts";
