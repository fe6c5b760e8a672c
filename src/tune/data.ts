/** Writes training and validation files from runs, with a manifest of what they were made of. */

import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { MANIFEST } from "../runs/artifacts.ts";
import { contentOf } from "../runs/folder-kind.ts";
import { packageVersion } from "../runs/manifest.ts";
import { refuseOwnInputs } from "../runs/run-folder.ts";
import { readIfThere, removeAll, toObject, writeWhole } from "../runs/whole-file.ts";
import { refuseExisting, writeLines } from "../runs/whole-lines.ts";
import { LIMITS, type TuneKind } from "./kinds.ts";
import { type BuiltRow, type LeftOut, RowBuilder, type RowOptions } from "./rows.ts";
import { openSource } from "./sources/open.ts";
import { Split } from "./split.ts";
import type { TaskSource } from "./task.ts";

export const TRAINING = "training.jsonl";
export const VALIDATION = "validation.jsonl";
export const TUNE_DATA_SCHEMA = "lockedroom.tune-data@1";

export interface TuneDataOptions extends RowOptions {
  readonly runs: readonly string[];
  readonly outdir: string;
  readonly validationShare: number;
  readonly seed: number;
  /** Replace earlier files of this command. */
  readonly force?: boolean | undefined;
}

interface WrittenFile {
  readonly file: string;
  readonly rows: number;
  readonly sha256: string;
}

/** manifest.json beside the files: the same runs and settings give the same bytes. */
export interface TuneDataManifest {
  readonly schema: typeof TUNE_DATA_SCHEMA;
  readonly command: "tune data";
  readonly kind: TuneKind;
  readonly files: { readonly training: WrittenFile; readonly validation: WrittenFile | null };
  readonly sources: readonly {
    readonly path: string;
    readonly what: string;
    readonly sha256: string;
    readonly tasks: number;
    readonly rows: number;
  }[];
  /** Tasks and attempts that are in no row, by reason. */
  readonly left_out: { readonly [reason in LeftOut]?: number };
  readonly settings: JsonObject;
  readonly lockedroom: string;
}

export interface TuneData {
  readonly outdir: string;
  readonly manifest: TuneDataManifest;
  /** What the reader should know of the sources. */
  readonly notes: readonly string[];
}

export async function writeTuneData(options: TuneDataOptions): Promise<TuneData> {
  const { kind, runs, outdir, force, validationShare: share, seed } = options;
  if (kind === "rft" && share === 0) {
    throw usageError(
      "a job of reinforcement fine-tuning needs a validation file",
      "Give a --validation-share above 0.",
    );
  }
  await refuseOutdir(options);
  const sources: TaskSource[] = [];
  for (const run of runs) sources.push(await openSource(run, kind === "rft" ? "items" : "answers"));
  const { split, counts, leftOut } = await survey(sources, options);
  requireRows(split.rows, leftOut, options);
  const most = LIMITS.mostRows[kind]?.validation ?? Number.POSITIVE_INFINITY;
  const forValidation = split.decide({ share, seed, most });
  const write = (name: string, side: boolean) =>
    written(outdir, name, force, rowsOn(side, forValidation, sources, options));
  const training = await write(TRAINING, false);
  const validation = share > 0 ? await write(VALIDATION, true) : null;
  if (!validation) await removeAll(outdir, [VALIDATION]);
  const manifest: TuneDataManifest = {
    ...{ schema: TUNE_DATA_SCHEMA, command: "tune data", kind },
    files: { training, validation },
    sources: sources.map(({ path, what, sha256 }, i) => ({
      ...{ path, what, sha256 },
      ...(counts[i] as { tasks: number; rows: number }),
    })),
    left_out: leftOut,
    settings: settingsOf(options),
    lockedroom: packageVersion(),
  };
  await writeWhole(path.join(outdir, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  return { outdir, manifest, notes: notesOf(sources, options) };
}

/** One pass that only counts, and decides nothing. */
async function survey(sources: readonly TaskSource[], options: RowOptions) {
  const builder = new RowBuilder(options);
  const split = new Split();
  const counts: { tasks: number; rows: number }[] = [];
  for (const source of sources) {
    const count = { tasks: 0, rows: 0 };
    counts.push(count);
    for await (const task of source.tasks()) {
      count.tasks++;
      for (const row of builder.rowsOf(task)) {
        count.rows++;
        split.add(row);
      }
    }
  }
  return { split, counts, leftOut: builder.leftOut };
}

async function* rowsOn(
  side: boolean,
  forValidation: readonly boolean[],
  sources: readonly TaskSource[],
  options: RowOptions,
): AsyncGenerator<BuiltRow> {
  const builder = new RowBuilder(options);
  let number = 0;
  for (const source of sources) {
    for await (const task of source.tasks()) {
      for (const row of builder.rowsOf(task)) if (forValidation[number++] === side) yield row;
    }
  }
}

async function written(
  outdir: string,
  name: string,
  force: boolean | undefined,
  rows: AsyncIterable<BuiltRow>,
): Promise<WrittenFile> {
  const { sha256, lines } = await writeLines(path.join(outdir, name), force, texts());
  return { file: name, rows: lines, sha256 };

  async function* texts() {
    for await (const { row } of rows) yield canonicalJson(row);
  }
}

/** What is written here is no run, and never takes the place of one. */
async function refuseOutdir({ outdir, force, runs }: TuneDataOptions): Promise<void> {
  refuseOwnInputs(
    outdir,
    runs.map((run) => path.join(run, MANIFEST)),
  );
  const { kind } = await contentOf(outdir);
  if (kind !== undefined)
    throw usageError(`${outdir} holds a run`, "Choose another --outdir; a run is never changed.");
  const found = toObject((await readIfThere(path.join(outdir, MANIFEST))) ?? "{}");
  if (found && found.schema !== undefined && found.schema !== TUNE_DATA_SCHEMA)
    throw usageError(`${outdir} has a ${MANIFEST} of something else`, "Choose another --outdir.");
  for (const name of [TRAINING, VALIDATION, MANIFEST])
    refuseExisting(path.join(outdir, name), force);
}

function requireRows(
  rows: number,
  leftOut: TuneDataManifest["left_out"],
  { kind, runs }: TuneDataOptions,
): void {
  const most = LIMITS.mostRows[kind]?.training ?? Number.POSITIVE_INFINITY;
  if (rows > most) {
    throw usageError(
      `the runs give ${rows} rows, and a training file for RFT has at most ${most}`,
      "Name fewer runs, or evaluate fewer examples.",
    );
  }
  if (rows > 0) return;
  const reasons = Object.entries(leftOut).map(([reason, count]) => `${reason}: ${count}`);
  throw dataError(
    `no row can be made of ${runs.join(", ")} (${reasons.join(", ") || "no tasks"})`,
    NEXT[kind],
  );
}

const NEXT: Readonly<Record<TuneKind, string>> = {
  sft: "Name a run with passing answers, or use --keep all.",
  dpo: "Name preference pairs, or a run with answers of different rewards to one example.",
  rft: "Name an evaluation, a rollout or a file of examples.",
};

function settingsOf(options: TuneDataOptions): JsonObject {
  const { validationShare, seed, system, keepAll, perExample, turns } = options;
  return {
    ...{ validation_share: validationShare, seed },
    system_sha256: system === undefined ? null : fingerprint(system),
    ...(options.kind === "sft" && {
      keep: keepAll ? "all" : "passed",
      per_example: perExample,
      turns,
    }),
  };
}

/** A policy that is trained with other instructions than it was sampled with learns something else. */
function notesOf(sources: readonly TaskSource[], { system }: TuneDataOptions): string[] {
  const given = system === undefined ? null : fingerprint(system);
  return sources.flatMap(({ path, notes, systemSha256: used }) => {
    if (used === undefined || used === given) return notes;
    const note = used
      ? `${path} was sampled with ${given ? "another" : "a"} system prompt; give it as --system`
      : `${path} was sampled without a system prompt`;
    return [...notes, note];
  });
}
