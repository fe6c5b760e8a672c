/** How a run of scored rows ends, be it an evaluation, a selection or a tabular experiment. */

import path from "node:path";
import { NOTE, RESULTS, SUMMARY_SCHEMA, SUMMARY_TEXT } from "./artifacts.ts";
import { manifestFingerprint } from "./manifest.ts";
import { scoredFacts } from "./note-facts.ts";
import type { Files, Finished, RunFolder } from "./run-folder.ts";
import { runNote, stamped } from "./run-note.ts";
import type { Manifest, ResultRow, Summary } from "./schemas.ts";
import { summaryText } from "./summary-text.ts";

/** What completes a run. */
export interface RunEnd {
  readonly manifest: Manifest;
  /** The part of the summary that was found out; the rest is derived. */
  readonly findings: Pick<
    Summary,
    | "metrics"
    | "outcomes"
    | "slices"
    | "axes"
    | "unknown_completions"
    | "alarms"
    | "episodes"
    | "failures"
    | "judge"
  >;
  /** Heading of summary.md. */
  readonly title: string;
  /** The numbers in a sentence, for the run note. */
  readonly happened: string;
  /** Lines of Markdown that follow the table of summary.md. */
  readonly remarks?: readonly string[];
  readonly concrete: readonly ResultRow[];
  readonly files?: Files;
}

/** A run that was written: its folder, manifest and summary. @see {@link evaluate} */
export type FinishedRun = Finished<Manifest, Summary>;

/** Writes summary, summary.md and the run note beside the results. */
export async function finishScoredRun(folder: RunFolder, end: RunEnd): Promise<FinishedRun> {
  const name = path.basename(path.resolve(folder.dir));
  const manifest = { ...end.manifest, volatile: { ...end.manifest.volatile, folder: name } };
  const { [RESULTS]: results = "", ...files } = await folder.seal(end.files);
  const summary: Summary = {
    schema: SUMMARY_SCHEMA,
    loop: manifest.loop,
    scorer: { name: manifest.scorer.name, version: manifest.scorer.version },
    ...end.findings,
    files,
    results_sha256: results,
    manifest_sha256: manifestFingerprint(manifest),
  };
  return folder.finish(manifest, summary, {
    ...end.files,
    [SUMMARY_TEXT]: summaryText(end.title, summary, end.remarks),
    [NOTE]: stamped(runNote(scoredFacts(manifest, summary, end.concrete, end.happened))),
  });
}
