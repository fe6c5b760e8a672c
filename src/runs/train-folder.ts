/**
 * A training run's folder: manifest.json at the start, metrics.jsonl line by line, summary.json last.
 * An interrupted run is gone on with from its last saved position, where the metrics are cut.
 */

import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, rm, truncate } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError, LockedRoomError, usageError } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import { MANIFEST, RUNNING, SUMMARY } from "./artifacts.ts";
import { claim, refuseForeignFolder, refuseOwnInputs, release } from "./claim.ts";
import { schemaProblem } from "./schema-problem.ts";
import {
  TRAIN_SUMMARY_SCHEMA,
  type TrainManifest,
  type TrainSummary,
  trainManifestSchema,
} from "./train-schemas.ts";
import { artifactJson } from "./writer.ts";

export const METRICS = "metrics.jsonl";

export interface TrainFolderOptions {
  /** Replace whatever training run is there. */
  readonly force?: boolean | undefined;
  /** Go on with an unfinished one. */
  readonly resume?: boolean | undefined;
  readonly inputs: readonly string[];
}

export class TrainFolder {
  readonly dir: string;
  readonly #metrics: FileHandle;
  /** How long metrics.jsonl is. */
  bytes: number;

  private constructor(dir: string, metrics: FileHandle, bytes: number) {
    this.dir = dir;
    this.#metrics = metrics;
    this.bytes = bytes;
  }

  /** Claims the folder for this manifest; `keep` bytes of earlier metrics stay. */
  static async open(
    dir: string,
    manifest: TrainManifest,
    keep: number,
    options: TrainFolderOptions,
  ): Promise<TrainFolder> {
    refuseOwnInputs(dir, options.inputs);
    try {
      await mkdir(dir, { recursive: true });
      const begun = existsSync(path.join(dir, MANIFEST)) && !existsSync(path.join(dir, SUMMARY));
      if (begun && options.resume) await requireSame(dir, manifest);
      else if (begun && !options.force) throw unfinished(dir);
      else if (!begun) await refuseForeignFolder(dir, options.force ?? false);
      await claim(dir);
      await rm(path.join(dir, SUMMARY), { force: true });
      await writeWhole(path.join(dir, MANIFEST), artifactJson(manifest));
      const file = path.join(dir, METRICS);
      const metrics = await open(file, "a");
      await truncate(file, keep);
      return new TrainFolder(dir, metrics, keep);
    } catch (error) {
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  async add(row: Json): Promise<void> {
    const line = Buffer.from(`${canonicalJson(row)}\n`);
    await this.#metrics.appendFile(line).catch((error) => {
      throw ioError(`write ${this.dir}`, error);
    });
    this.bytes += line.length;
  }

  /** Lets go; what is there can be gone on with. */
  async leave(): Promise<void> {
    await this.#metrics.close().catch(() => {});
    await rm(path.join(this.dir, RUNNING), { force: true }).catch(() => {});
    release(this.dir);
  }

  async finish(
    manifest: TrainManifest,
    end: Omit<TrainSummary, "schema" | "metrics_sha256" | "manifest_sha256">,
  ): Promise<TrainSummary> {
    await this.#metrics.sync();
    const summary: TrainSummary = {
      schema: TRAIN_SUMMARY_SCHEMA,
      ...end,
      metrics_sha256: sha256(await readFile(path.join(this.dir, METRICS))),
      manifest_sha256: manifestHash(manifest),
    };
    await writeWhole(path.join(this.dir, MANIFEST), artifactJson(manifest));
    await writeWhole(path.join(this.dir, SUMMARY), artifactJson(summary));
    await this.leave();
    return summary;
  }
}

/** Where the files lay and on which occasion does not matter. */
function manifestHash({ volatile: _, inputs, ...fixed }: TrainManifest): string {
  return fingerprint({ ...fixed, inputs: inputs.map(({ path: _path, ...input }) => input) });
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
    `${dir} was begun with other ${fields.length > 0 ? `settings (${fields.join(", ")})` : "data or another start"}`,
    "Resume with the same command, or begin anew with --force.",
  );
}

function unfinished(dir: string): Error {
  return usageError(
    `${dir} holds an unfinished training run`,
    "Go on with it: the same command with --resume. Or begin anew with --force.",
  );
}

async function writeWhole(file: string, content: string): Promise<void> {
  const handle = await open(`${file}.partial`, "w");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.partial`, file);
}
