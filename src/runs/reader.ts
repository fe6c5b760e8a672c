/** Opens a finished run for reading, and refuses one that is not whole. */

import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ZodType } from "zod";
import { dataError, ioError, LockedRoomError } from "../core/errors.ts";
import { MANIFEST, RESULTS, SUMMARY } from "./artifacts.ts";
import { writerOf } from "./claim.ts";
import { JsonlFile } from "./jsonl.ts";
import { manifestFingerprint } from "./manifest.ts";
import { schemaProblem } from "./schema-problem.ts";
import {
  type Manifest,
  manifestSchema,
  type ResultRow,
  resultRowSchema,
  type Summary,
  summarySchema,
} from "./schemas.ts";

/**
 * A finished run, open for reading.
 *
 * @see {@link openRun}
 */
export interface Run {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly summary: Summary;
  /** True when manifest.json still is what the summary was made from. */
  readonly manifestIntact: boolean;
  /** A fresh pass over results.jsonl; compare its `sha256` with the summary's when it has ended. */
  results(): JsonlFile<ResultRow>;
}

/**
 * Opens a finished run; an unfinished or damaged one is refused with a sentence.
 *
 * @example
 * ```ts
 * import { openRun } from "lockedroom";
 *
 * const run = await openRun("runs/baseline");
 * for await (const rows of run.results().batches())
 *   for (const { id, reward } of rows) console.log(id, reward);
 * ```
 */
export async function openRun(dir: string): Promise<Run> {
  await refuseUnfinished(dir);
  const manifest = await readArtifact(path.join(dir, MANIFEST), manifestSchema);
  const summary = await readArtifact(path.join(dir, SUMMARY), summarySchema);
  return {
    dir,
    manifest,
    summary,
    manifestIntact: manifestFingerprint(manifest) === summary.manifest_sha256,
    results: () => new JsonlFile(path.join(dir, RESULTS), toResultRow),
  };
}

async function refuseUnfinished(dir: string): Promise<void> {
  if (!existsSync(dir))
    throw dataError(`there is no run at ${dir}`, "Check the path, or make the run first.");
  if (!statSync(dir).isDirectory())
    throw dataError(`${dir} is a file, not a run folder`, "Name the folder.");
  if (existsSync(path.join(dir, SUMMARY))) return;
  if ((await writerOf(dir)) !== undefined) {
    throw dataError(
      `the run ${dir} is unfinished: it is still being written`,
      "Wait for it to end.",
    );
  }
  throw dataError(
    `the run ${dir} is unfinished: it has no ${SUMMARY}`,
    "It was interrupted, or is not a run. Run its command again.",
  );
}

async function readArtifact<T>(file: string, schema: ZodType<T>): Promise<T> {
  let text: string;
  try {
    if (!statSync(file).isFile()) throw Object.assign(new Error(), { code: "EISDIR" });
    text = await readFile(file, "utf8");
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    refuseOtherKind(path.dirname(file), text);
    throw new LockedRoomError(
      "data",
      `${file} is damaged or of another version: ${schemaProblem(error)}`,
      {
        hint: "Run the command that made it again.",
        cause: error,
      },
    );
  }
}

/** Folders of ours that hold no scores, and what makes scores of them. */
const OTHER_KINDS: readonly (readonly [schema: string, what: string, next: string])[] = [
  [
    "lockedroom.rollout@",
    "a rollout: completions that nobody has scored yet",
    "Score them with eval, or with selection-demo where there are several for each example.",
  ],
  [
    "lockedroom.train@",
    "a training run",
    "Sample from its checkpoint with rollout and score that with eval; report shows the training.",
  ],
  [
    "lockedroom.pairs@",
    "preference data",
    "Train on it with train dpo; the scores are those of the samples that it was made from.",
  ],
];

function refuseOtherKind(dir: string, manifest: string): void {
  const kind = OTHER_KINDS.find(([schema]) => manifest.includes(`"${schema}`));
  if (kind) throw dataError(`${dir} is ${kind[1]}`, kind[2]);
}

/** Rows are many, so the few fields everything rests on are checked by hand; tests use the schema. */
function toResultRow(fields: Record<string, unknown>): ResultRow {
  const { id, reward, outcome_code: code } = fields;
  const sound =
    typeof id === "string" &&
    typeof code === "string" &&
    (reward === null || Number.isFinite(reward));
  if (sound) return fields as ResultRow;
  throw new TypeError(schemaProblem(resultRowSchema.safeParse(fields).error));
}
