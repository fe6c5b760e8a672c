/**
 * A training run's folder: manifest.json at the start, metrics.jsonl and its companions line by line,
 * summary.json last. An interrupted run is gone on with from its last saved position, where they are cut.
 */

import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rm, truncate } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError, LockedRoomError, usageError } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import { MANIFEST, RUNNING, SUMMARY } from "./artifacts.ts";
import { claim, refuseForeignFolder, refuseOwnInputs, release } from "./claim.ts";
import { schemaProblem } from "./schema-problem.ts";
import {
  TRAIN_SCHEMA,
  TRAIN_SUMMARY_SCHEMA,
  type TrainManifest,
  type TrainSummary,
  trainManifestSchema,
} from "./train-schemas.ts";
import { writeWhole } from "./whole-file.ts";
import { artifactJson } from "./writer.ts";

export const METRICS = "metrics.jsonl";

/** Each grows line by line. The last holds seconds, which no comparison reads. */
export const STREAMS = ["metrics", "evaluations", "samples", "alarms", "timing"] as const;
export type Stream = (typeof STREAMS)[number];

/** How long each stream is. */
export type StreamBytes = Readonly<Record<Stream, number>>;

export interface TrainFolderOptions {
  /** Replace whatever training run is there. */
  readonly force?: boolean | undefined;
  /** Go on with an unfinished one. */
  readonly resume?: boolean | undefined;
  readonly inputs: readonly string[];
}

export class TrainFolder {
  readonly dir: string;
  readonly #streams: ReadonlyMap<Stream, { handle: FileHandle; bytes: number }>;

  private constructor(dir: string, streams: Map<Stream, { handle: FileHandle; bytes: number }>) {
    this.dir = dir;
    this.#streams = streams;
  }

  /** Claims the folder for this manifest; as much of each stream stays as `keep` says. */
  static async open(
    dir: string,
    manifest: TrainManifest,
    keep: StreamBytes | undefined,
    options: TrainFolderOptions,
  ): Promise<TrainFolder> {
    refuseOwnInputs(dir, options.inputs);
    try {
      await mkdir(dir, { recursive: true });
      await refuseOtherManifest(dir);
      const begun = existsSync(path.join(dir, MANIFEST)) && !existsSync(path.join(dir, SUMMARY));
      if (begun && options.resume) await requireSame(dir, manifest);
      else if (begun && !options.force) throw unfinished(dir);
      else if (!begun) await refuseForeignFolder(dir, options.force ?? false);
      await claim(dir);
      await rm(path.join(dir, SUMMARY), { force: true });
      await writeWhole(path.join(dir, MANIFEST), artifactJson(manifest));
      const streams = new Map<Stream, { handle: FileHandle; bytes: number }>();
      for (const stream of STREAMS) {
        const file = path.join(dir, `${stream}.jsonl`);
        const [handle, bytes] = [await open(file, "a"), keep?.[stream] ?? 0];
        await truncate(file, bytes);
        streams.set(stream, { handle, bytes });
      }
      return new TrainFolder(dir, streams);
    } catch (error) {
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  async add(stream: Stream, row: object): Promise<void> {
    const line = Buffer.from(`${canonicalJson(row as Json)}\n`);
    const open = this.#streams.get(stream);
    if (!open) return;
    await open.handle.appendFile(line).catch((error) => {
      throw ioError(`write ${this.dir}`, error);
    });
    open.bytes += line.length;
  }

  get bytes(): StreamBytes {
    const entries = [...this.#streams].map(([stream, { bytes }]) => [stream, bytes]);
    return Object.fromEntries(entries) as StreamBytes;
  }

  /** Lets go; what is there can be gone on with. */
  async leave(): Promise<void> {
    for (const { handle } of this.#streams.values()) await handle.close().catch(() => {});
    await rm(path.join(this.dir, RUNNING), { force: true }).catch(() => {});
    release(this.dir);
  }

  async #hashOf(stream: Stream): Promise<string> {
    return sha256(await readFile(path.join(this.dir, `${stream}.jsonl`)));
  }

  async finish(
    manifest: TrainManifest,
    end: Omit<TrainSummary, "schema" | `${string}_sha256`>,
  ): Promise<TrainSummary> {
    for (const { handle } of this.#streams.values()) await handle.sync();
    const summary: TrainSummary = {
      schema: TRAIN_SUMMARY_SCHEMA,
      ...end,
      metrics_sha256: await this.#hashOf("metrics"),
      evaluations_sha256: await this.#hashOf("evaluations"),
      samples_sha256: await this.#hashOf("samples"),
      alarms_sha256: await this.#hashOf("alarms"),
      manifest_sha256: manifestHash(manifest),
    };
    await writeWhole(path.join(this.dir, MANIFEST), artifactJson(manifest));
    await writeWhole(path.join(this.dir, SUMMARY), artifactJson(summary));
    await this.leave();
    return summary;
  }
}

/** Where the files lay and on which occasion does not matter. */
function manifestHash({ volatile: _, inputs, scorers, ...fixed }: TrainManifest): string {
  return fingerprint({
    ...fixed,
    inputs: inputs.map(({ path: _path, ...input }) => input),
    scorers: scorers.map(({ role, identity: { path: _path, ...identity } }) => ({
      role,
      identity,
    })),
  });
}

/** Only a training run is ever gone on with or replaced. */
async function refuseOtherManifest(dir: string): Promise<void> {
  const text = await readFile(path.join(dir, MANIFEST), "utf8").catch(() => undefined);
  if (text === undefined || text.includes(`"${TRAIN_SCHEMA}"`)) return;
  throw usageError(
    `${dir} holds a ${MANIFEST} that is not of a training run`,
    "Choose a new or empty folder for --outdir.",
  );
}

async function requireSame(dir: string, now: TrainManifest): Promise<void> {
  const file = path.join(dir, MANIFEST);
  let before: TrainManifest;
  try {
    before = trainManifestSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    throw dataError(`${file} is damaged: ${schemaProblem(error)}`, "Begin anew with --force.");
  }
  if (manifestHash(before) === manifestHash(now)) return;
  const fields = Object.keys(now.settings).filter(
    (key) =>
      canonicalJson(before.settings[key] ?? null) !== canonicalJson(now.settings[key] ?? null),
  );
  throw usageError(
    `${dir} was begun with other ${fields.length > 0 ? `settings (${fields.join(", ")})` : "data, other scorers or another start"}`,
    "Resume with the same command, or begin anew with --force.",
  );
}

function unfinished(dir: string): Error {
  return usageError(
    `${dir} holds an unfinished training run`,
    "Go on with it: the same command with --resume. Or begin anew with --force.",
  );
}
