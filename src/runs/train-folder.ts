/**
 * A training run's folder: manifest.json at the start, metrics.jsonl and its companions line by line,
 * summary.json last. An interrupted run is resumed from its last saved state, where they are cut.
 */

import { rm } from "node:fs/promises";
import { dataError, ioError, messageOf, usageError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import { MANIFEST, SUMMARY, TRAIN_SUMMARY_SCHEMA } from "./artifacts.ts";
import { type GrowingFile, requireBytes } from "./line-files.ts";
import { manifestFingerprint } from "./manifest.ts";
import type { FolderOptions } from "./run-folder.ts";
import { artifactJson, RunFolder } from "./run-folder.ts";
import { type TrainManifest, type TrainSummary, trainManifestSchema } from "./train-schemas.ts";
import { parseWith, readIfThere, writeWhole } from "./whole-file.ts";

/** Each grows line by line. The last holds seconds, which no comparison reads. */
export const STREAMS = ["metrics", "evaluations", "samples", "alarms", "timing"] as const;
export type Stream = (typeof STREAMS)[number];

/** How long each stream is. */
export type StreamBytes = Readonly<Record<Stream, number>>;

export class TrainFolder {
  readonly dir: string;
  readonly #folder: RunFolder;
  readonly #streams: ReadonlyMap<Stream, GrowingFile>;

  private constructor(folder: RunFolder, streams: Map<Stream, GrowingFile>) {
    this.dir = folder.dir;
    this.#folder = folder;
    this.#streams = streams;
  }

  /** Claims the folder for this manifest; `keep` is how much of each stream stays. */
  static async open(
    dir: string,
    manifest: TrainManifest,
    keep: StreamBytes | undefined,
    options: FolderOptions,
  ): Promise<TrainFolder> {
    const folder = await RunFolder.open(dir, "train", options);
    try {
      if (options.resume) await requireSame(folder, manifest);
      for (const stream of STREAMS)
        await requireBytes(folder.file(`${stream}.jsonl`), keep?.[stream] ?? 0);
      await rm(folder.file(SUMMARY), { force: true });
      await writeWhole(folder.file(MANIFEST), artifactJson(manifest));
      const streams = new Map<Stream, GrowingFile>();
      for (const stream of STREAMS) {
        streams.set(stream, await folder.growing(`${stream}.jsonl`, keep?.[stream]));
      }
      return new TrainFolder(folder, streams);
    } catch (error) {
      await folder.leave();
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  async add(stream: Stream, row: object): Promise<void> {
    await this.#streams.get(stream)?.add(canonicalJson(row));
  }

  get bytes(): StreamBytes {
    const entries = [...this.#streams].map(([stream, { bytes }]) => [stream, bytes]);
    return Object.fromEntries(entries) as StreamBytes;
  }

  /** Waits until the disk has the streams, as a saved state expects. */
  async sync(): Promise<void> {
    for (const file of this.#streams.values()) await file.sync();
  }

  /** Lets go; what is there can be resumed. */
  async leave(): Promise<void> {
    await this.#folder.leave();
  }

  async finish(
    manifest: TrainManifest,
    end: Omit<TrainSummary, "schema" | `${string}_sha256`>,
  ): Promise<TrainSummary> {
    const hashes = await this.#folder.seal();
    const hashOf = (stream: Stream) => hashes[`${stream}.jsonl`] as string;
    const { summary } = await this.#folder.finish(manifest, {
      schema: TRAIN_SUMMARY_SCHEMA,
      ...end,
      metrics_sha256: hashOf("metrics"),
      evaluations_sha256: hashOf("evaluations"),
      samples_sha256: hashOf("samples"),
      alarms_sha256: hashOf("alarms"),
      manifest_sha256: manifestFingerprint(manifest),
    } satisfies TrainSummary);
    return summary;
  }
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
  throw usageError(
    `${folder.dir} was started with other ${fields.length > 0 ? `settings (${fields.join(", ")})` : "data, other scorers or another initial policy"}`,
    "Resume with the same command, or start over with --force.",
  );
}
