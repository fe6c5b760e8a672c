/** Opens a finished run for reading, and refuses one that is not whole. */

import path from "node:path";
import { isFields } from "../core/records.ts";
import { MANIFEST, RESULTS, SUMMARY } from "./artifacts.ts";
import { requireFinished, requireKind, SCORED } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { manifestFingerprint } from "./manifest.ts";
import {
  type Manifest,
  manifestSchema,
  type ResultRow,
  resultRowSchema,
  type Summary,
  summarySchema,
} from "./schemas.ts";
import { parseWith, readArtifact, sha256OfFile } from "./whole-file.ts";

/** A finished run, open for reading. @see {@link openRun} */
export interface Run {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly summary: Summary;
  /** True when manifest.json still is what the summary was made from. */
  readonly manifestIntact: boolean;
  /** The SHA-256 of a further file; undefined when it is not there. */
  hashOf(name: string): Promise<string | undefined>;
  /** A fresh pass over results.jsonl; compare its `sha256` with the summary's when it has ended. */
  results(): JsonlFile<ResultRow>;
}

const AGAIN = "Run the command that made it again.";

/**
 * Opens a finished run; an unfinished or damaged one is refused with a sentence.
 * @example
 * ```ts
 * import { openRun } from "lockedroom";
 * const run = await openRun("runs/baseline");
 * for await (const rows of run.results().batches())
 *   for (const { id, reward } of rows) console.log(id, reward);
 * ```
 */
export async function openRun(dir: string): Promise<Run> {
  requireFinished(dir, await requireKind(dir, SCORED));
  const manifest = await readArtifact(path.join(dir, MANIFEST), manifestSchema, AGAIN);
  const summary = await readArtifact(path.join(dir, SUMMARY), summarySchema, AGAIN);
  return {
    dir,
    manifest,
    summary,
    manifestIntact: manifestFingerprint(manifest) === summary.manifest_sha256,
    hashOf: (name) => sha256OfFile(path.join(dir, name)).catch(() => undefined),
    results: () => new JsonlFile(path.join(dir, RESULTS), toResultRow, { regular: true }),
  };
}

/** Rows are many, so the few fields everything rests on are checked by hand; tests use the schema. */
function toResultRow(fields: Record<string, unknown>): ResultRow {
  const { id, prompt, completion, reward, outcome_code: code, samples } = fields;
  const sound =
    typeof id === "string" &&
    typeof prompt === "string" &&
    typeof code === "string" &&
    (completion === null || typeof completion === "string") &&
    (reward === null || Number.isFinite(reward)) &&
    (samples === undefined || areTexts(samples));
  if (sound) return fields as ResultRow;
  return parseWith(resultRowSchema, fields);
}

function areTexts(samples: unknown): boolean {
  return (
    Array.isArray(samples) &&
    samples.every((one) => isFields(one) && typeof one.completion === "string")
  );
}
