/** Reads training files, and bodies of jobs, into the formats of this program. */

import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { contentOf } from "../runs/folder-kind.ts";
import { JsonlFile, type ReadOptions } from "../runs/jsonl.ts";
import { readText, toObject, writeWhole } from "../runs/whole-file.ts";
import { refuseExisting, writeLines } from "../runs/whole-lines.ts";
import { importedRow, type Loss } from "./import-rows.ts";
import { readJob } from "./job.ts";
import { kindOfRow, type TuneKind } from "./kinds.ts";

export interface TuneImportOptions extends Pick<ReadOptions, "onBytes"> {
  readonly outdir: string;
  /** Found from the first row where it is not given. */
  readonly kind?: TuneKind | undefined;
  /** RFT: the field that becomes expected_answer. */
  readonly answerField?: string | undefined;
  readonly force?: boolean | undefined;
}

export interface TuneImported {
  readonly kind: TuneKind;
  readonly outfile: string;
  readonly rows: number;
  readonly sha256: string;
  /** How many rows each loss is about. */
  readonly losses: { readonly [loss in Loss]?: number };
}

const NAMES: Readonly<Record<TuneKind, string>> = {
  sft: "texts.jsonl",
  dpo: "pairs.jsonl",
  rft: "examples.jsonl",
};

export async function importTuneFile(
  file: string,
  options: TuneImportOptions,
): Promise<TuneImported> {
  const { outdir, answerField, force, onBytes } = options;
  await refuseRun(outdir);
  const kind = options.kind ?? (await kindOfFile(file));
  if (answerField !== undefined && kind !== "rft")
    throw usageError("--answer is for files of RFT", "Leave it out.");
  const losses: { [loss in Loss]?: number } = {};
  const source = new JsonlFile(
    file,
    (fields, line) => {
      const lost = new Set<Loss>();
      const row = importedRow(kind, fields, line, (loss) => lost.add(loss), answerField);
      for (const loss of lost) losses[loss] = (losses[loss] ?? 0) + 1;
      return row;
    },
    { onBytes },
  );
  const outfile = path.join(outdir, NAMES[kind]);
  const { sha256, lines } = await writeLines(outfile, force, texts(source));
  return { kind, outfile, rows: lines, sha256, losses };
}

async function* texts(source: JsonlFile<JsonObject>): AsyncGenerator<string> {
  for await (const batch of source.batches()) for (const row of batch) yield canonicalJson(row);
  if (source.rows === 0) throw dataError(`${source.path} has no rows`, "Is it the right file?");
}

async function kindOfFile(file: string): Promise<TuneKind> {
  const lines = new JsonlFile(file, (fields) => fields);
  for await (const [first] of lines.batches()) {
    const kind = first && kindOfRow(first);
    if (kind) return kind;
    throw dataError(
      `${file}: the first row is no row of SFT, DPO or RFT`,
      "Check the file with tune validate, or give --kind.",
    );
  }
  throw dataError(`${file} has no rows`, "Is it the right file?");
}

async function refuseRun(dir: string): Promise<void> {
  const { kind } = await contentOf(dir);
  if (kind === undefined) return;
  throw usageError(`${dir} holds a run`, "Choose another --outdir; a run is never changed.");
}

/** Whether a file is the body of a job: one JSON object with fields of a job. */
export async function jobIn(file: string): Promise<JsonObject | undefined> {
  if (path.extname(file) !== ".json") return undefined;
  const body = toObject(await readText(file));
  return body && ("method" in body || "training_file" in body) ? body : undefined;
}

export interface JobImported {
  readonly outfile: string;
  readonly changes: readonly string[];
}

/** Writes job.json in the present shape. */
export async function importJob(
  body: JsonObject,
  { outdir, force }: Pick<TuneImportOptions, "outdir" | "force">,
): Promise<JobImported> {
  await refuseRun(outdir);
  const outfile = path.join(outdir, "job.json");
  refuseExisting(outfile, force);
  const { job, changes } = readJob(body);
  await writeWhole(outfile, `${JSON.stringify(job, null, 2)}\n`);
  return { outfile, changes };
}
