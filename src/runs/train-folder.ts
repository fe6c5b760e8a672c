/**
 * A training run's folder: manifest.json at the start, metrics.jsonl and its companions line by line,
 * summary.json last. An interrupted run is resumed from its last saved state, where they are cut.
 */

import type { Hash } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError, messageOf, usageError } from "../core/errors.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import {
  BASELINE,
  MANIFEST,
  NOTE,
  SAMPLES,
  STATE,
  SUMMARY,
  TRAIN_SUMMARY_SCHEMA,
} from "./artifacts.ts";
import type { GrowingFile } from "./line-files.ts";
import { manifestFingerprint } from "./manifest.ts";
import { trainFacts } from "./note-facts.ts";
import { readLines } from "./read-training-run.ts";
import { fillFolder, wholeFolder } from "./replace-folder.ts";
import type { FolderOptions } from "./run-folder.ts";
import { artifactJson, RunFolder } from "./run-folder.ts";
import { runNote, stamped } from "./run-note.ts";
import { tail } from "./tail.ts";
import { type BaselineRecord, baselineRecordSchema, type SampleRecord } from "./train-records.ts";
import { type TrainManifest, type TrainSummary, trainManifestSchema } from "./train-schemas.ts";
import {
  asJson,
  baselineHash,
  chained,
  hashOfStart,
  keptHash,
  readSavedState,
  type SavedState,
  STREAMS,
  type Stream,
  type StreamBytes,
  type StreamHashes,
  stateFile,
  stateRecord,
} from "./train-state.ts";
import { parseWith, readIfThere, writeDurably, writeWhole } from "./whole-file.ts";

/** What the run itself knows of a state that it saves. */
export interface StateOfRun {
  readonly step: number;
  readonly source: unknown;
  readonly best: string | null;
}

interface OpenStream {
  readonly file: GrowingFile;
  /** Of all of its bytes so far. */
  readonly hash: Hash;
}

export class TrainFolder {
  readonly dir: string;
  /** The state that it is resumed from; undefined when it begins. */
  readonly resumed: SavedState | undefined;
  readonly #folder: RunFolder;
  readonly #streams: ReadonlyMap<Stream, OpenStream>;
  /** Of the last saved state, or the manifest's fingerprint. */
  #chain: string;

  private constructor(
    folder: RunFolder,
    streams: ReadonlyMap<Stream, OpenStream>,
    resumed: SavedState | undefined,
    chain: string,
  ) {
    this.dir = folder.dir;
    this.#folder = folder;
    this.#streams = streams;
    this.resumed = resumed;
    this.#chain = chain;
  }

  /** Claims the folder for this manifest. Nothing in it changes before all is found as it was left. */
  static async open(
    dir: string,
    manifest: TrainManifest,
    options: FolderOptions,
  ): Promise<TrainFolder> {
    const folder = await RunFolder.open(dir, "train", options);
    try {
      const first = manifestFingerprint(manifest);
      if (options.resume) await requireSame(folder, manifest);
      const resumed = options.resume ? await readSavedState(dir, first) : undefined;
      await rm(folder.file(SUMMARY), { force: true });
      await writeWhole(folder.file(MANIFEST), artifactJson(manifest));
      const streams = new Map<Stream, OpenStream>();
      for (const stream of STREAMS) {
        const keep = resumed?.bytes[stream] ?? 0;
        const file = await folder.growing(`${stream}.jsonl`, keep);
        streams.set(stream, { file, hash: await hashOfStart(file.path, keep) });
      }
      const opened = new TrainFolder(folder, streams, resumed, resumed?.chain ?? first);
      // Its line comes after the state itself: a run may have been killed in between.
      if (resumed) await opened.add("states", stateRecord(resumed));
      return opened;
    } catch (error) {
      await folder.leave();
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  async add(stream: Stream, row: object): Promise<void> {
    const line = canonicalJson(row);
    const open = this.#streams.get(stream);
    await open?.file.add(line);
    open?.hash.update(`${line}\n`);
  }

  /** What the initial policy did, once, before the first step. */
  async writeBaseline(rows: readonly BaselineRecord[]): Promise<void> {
    const lines = rows.map((row) => `${canonicalJson(row)}\n`).join("");
    await writeWhole(this.#folder.file(BASELINE), lines);
  }

  async readBaseline(): Promise<BaselineRecord[]> {
    const { rows } = await readLines(this.#folder.file(BASELINE), baselineRecordSchema);
    return rows;
  }

  /** Saves a state whose other files `write` writes, giving their hashes, and adds it to the chain. */
  async saveState(
    { step, source, best }: StateOfRun,
    write: (folder: string) => Promise<Readonly<Record<string, string>>>,
  ): Promise<void> {
    for (const { file } of this.#streams.values()) await file.sync();
    const { bytes, streams } = this.#soFar();
    const kept = await keptHash(this.dir);
    const baseline = await baselineHash(this.dir);
    let saved: SavedState | undefined;
    await fillFolder(this.#folder.file(STATE), async (folder) => {
      const files = { ...(await write(folder)) };
      const parts = {
        ...{ step, source: asJson(source), best, kept, files, bytes, streams },
        ...(baseline !== undefined && { baseline }),
      };
      saved = chained(parts, this.#chain);
      await writeDurably(stateFile(folder), `${canonicalJson(saved)}\n`);
    });
    if (!saved) return;
    this.#chain = saved.chain;
    await this.add("states", stateRecord(saved));
  }

  /** Has the files of the state that is resumed read. */
  async readState(read: (folder: string) => Promise<void>): Promise<void> {
    const folder = wholeFolder(path.join(this.dir, STATE));
    try {
      await read(folder);
    } catch (error) {
      throw dataError(`${folder} is damaged: ${messageOf(error)}`, "Start again with --force.");
    }
  }

  #soFar(): { readonly bytes: StreamBytes; readonly streams: StreamHashes } {
    const of = <T>(value: (open: OpenStream) => T) =>
      Object.fromEntries([...this.#streams].map(([name, open]) => [name, value(open)]));
    return {
      bytes: of(({ file }) => file.bytes) as StreamBytes,
      streams: of(({ hash }) => hash.copy().digest("hex")) as StreamHashes,
    };
  }

  /** Lets go; what is there can be resumed. */
  async leave(): Promise<void> {
    await this.#folder.leave();
  }

  async finish(
    manifest: TrainManifest,
    end: Omit<TrainSummary, "schema" | `${string}_sha256`>,
    /** The settings that the run would have had by default. */
    usual: JsonObject,
  ): Promise<TrainSummary> {
    const hashes = await this.#folder.seal();
    const hashOf = (stream: Stream) => hashes[`${stream}.jsonl`] as string;
    const kept = await keptHash(this.dir);
    const baseline = await baselineHash(this.dir);
    const note = runNote(trainFacts(manifest, end, await lastSamples(this.dir), usual));
    const summary: TrainSummary = {
      schema: TRAIN_SUMMARY_SCHEMA,
      ...end,
      metrics_sha256: hashOf("metrics"),
      evaluations_sha256: hashOf("evaluations"),
      samples_sha256: hashOf("samples"),
      alarms_sha256: hashOf("alarms"),
      states_sha256: hashOf("states"),
      ...(kept !== null && { kept_sha256: kept }),
      ...(baseline !== undefined && { baseline_sha256: baseline }),
      manifest_sha256: manifestFingerprint(manifest),
    };
    await this.#folder.finish(manifest, summary, { [NOTE]: stamped(note) });
    return summary;
  }
}

/** Two samples of the last validation, or of the last step where there was none, for the run note. */
async function lastSamples(dir: string): Promise<SampleRecord[]> {
  let last: SampleRecord[] = [];
  for (let from = 0; ; ) {
    const { rows, next } = await tail(dir, SAMPLES, from);
    if (rows.length === 0) break;
    const all = [...last, ...(rows as unknown as SampleRecord[])];
    last = all.filter(({ step }) => step === all.at(-1)?.step);
    from = next;
  }
  return last.slice(0, 2);
}

/** A run is resumed only with the manifest that it was started with. */
async function requireSame(folder: RunFolder, now: TrainManifest): Promise<void> {
  const file = folder.file(MANIFEST);
  const text = await readIfThere(file);
  if (text === undefined) return;
  let before: TrainManifest;
  try {
    before = parseWith(trainManifestSchema, JSON.parse(text));
  } catch (error) {
    throw dataError(`${file} is damaged: ${messageOf(error)}`, "Start over with --force.");
  }
  if (manifestFingerprint(before) === manifestFingerprint(now)) return;
  const fields = Object.keys(now.settings).filter(
    (key) =>
      canonicalJson(before.settings[key] ?? null) !== canonicalJson(now.settings[key] ?? null),
  );
  if (judgeOf(before) !== judgeOf(now)) {
    throw usageError(
      `${folder.dir} was started with ${judgeOf(before)}, not with ${judgeOf(now)}`,
      "Resume with the same command, or start over with --force: scores of two judges cannot be compared.",
    );
  }
  throw usageError(
    `${folder.dir} was started with other ${fields.length > 0 ? `settings (${fields.join(", ")})` : "data, other scorers or another initial policy"}`,
    "Resume with the same command, or start over with --force.",
  );
}

/** In words; a judge with another rubric or other sampling settings is another one. */
function judgeOf({ scorers }: TrainManifest): string {
  const found = scorers.find(({ identity }) => identity.kind === "judge")?.identity;
  return found
    ? `the judge ${found.name} (fingerprint ${String(found.fingerprint).slice(0, 12)}…)`
    : "no judge";
}
