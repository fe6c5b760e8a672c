/** The training runs of a workspace, and which of them may count as evidence. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ZodType } from "zod";
import {
  canonicalJson,
  dataError,
  loadCheckpoint,
  messageOf,
  readTrainingRun,
  type TrainingRun,
  type TrainManifest,
  type TrainSummary,
  trainManifestSchema,
  trainSummarySchema,
} from "../../index.ts";
import { filesBelow, textOf } from "../workspace-files.ts";
import { Rejudge } from "./rejudge.ts";
import { problemInFigures } from "./training-figures.ts";
import { rewarding } from "./training-settings.ts";

export interface Training {
  /** From the workspace's root: runs/dpo. */
  readonly path: string;
  readonly manifest: TrainManifest;
  readonly summary: TrainSummary;
  readonly records: TrainingRun;
}

export class Trainings {
  readonly dir: string;
  /** Everything below runs/. */
  readonly files: readonly string[];
  /** Each folder that says it is a training run. */
  readonly known: readonly { readonly path: string; readonly algorithm: string }[];
  readonly rejudge: Rejudge;
  readonly #opened = new Map<string, Promise<Training | string>>();

  private constructor(dir: string, found: Pick<Trainings, "files" | "known">) {
    this.dir = dir;
    this.files = found.files;
    this.known = found.known;
    this.rejudge = new Rejudge(dir);
  }

  static async read(dir: string): Promise<Trainings> {
    const files = await filesBelow(dir, "runs");
    const known = files
      .filter((file) => /^runs\/.+\/manifest\.json$/.test(file))
      .flatMap((file) => {
        const algorithm = algorithmIn(textOf(dir, file) ?? "");
        return algorithm === undefined ? [] : [{ path: path.posix.dirname(file), algorithm }];
      });
    return new Trainings(dir, { files, known });
  }

  /** The run as it was written, or why it is no evidence; asked once. */
  open(name: string): Promise<Training | string> {
    const opened = this.#opened.get(name) ?? this.#open(name);
    this.#opened.set(name, opened);
    return opened;
  }

  /** All runs of these algorithms that are evidence. */
  async sound(algorithms: readonly string[]): Promise<Training[]> {
    const found: Training[] = [];
    for (const { path: name, algorithm } of this.known) {
      const opened = algorithms.includes(algorithm) ? await this.open(name) : "another";
      if (typeof opened !== "string") found.push(opened);
    }
    return found;
  }

  async #open(name: string): Promise<Training | string> {
    try {
      const training = await readTraining(this.dir, name);
      const problem =
        problemInFigures(training) ??
        (await this.rejudge.problemInSamples(training)) ??
        (await problemInCheckpoint(this.dir, training));
      return problem ?? training;
    } catch (error) {
      return messageOf(error).replaceAll(this.dir + path.sep, "");
    }
  }
}

/** Undefined for the manifest of anything else. */
function algorithmIn(text: string): string | undefined {
  try {
    const { schema, algorithm } = JSON.parse(text);
    const isTraining = typeof schema === "string" && schema.startsWith("lockedroom.train@");
    return isTraining ? String(algorithm) : undefined;
  } catch {
    return undefined;
  }
}

async function readTraining(dir: string, name: string): Promise<Training> {
  const folder = path.join(dir, name);
  if (!existsSync(path.join(folder, "summary.json")))
    throw dataError("It is unfinished: go on with it by the same command with --resume.");
  return {
    path: name,
    manifest: await whole(path.join(folder, "manifest.json"), trainManifestSchema),
    summary: await whole(path.join(folder, "summary.json"), trainSummarySchema),
    records: await readTrainingRun(folder),
  };
}

async function whole<T>(file: string, schema: ZodType<T>): Promise<T> {
  const { success, data } = schema.safeParse(JSON.parse(await readFile(file, "utf8")));
  if (success) return data;
  throw dataError(`It was edited: ${path.basename(file)} is not as a training writes it.`);
}

/** The policy that came out of it is there, and says of itself what the run says. */
async function problemInCheckpoint(
  dir: string,
  { path: name, manifest, summary }: Training,
): Promise<string | undefined> {
  const found = await loadCheckpoint(path.join(dir, name, "checkpoint"));
  const { checkpoint_fingerprint: print, stop, holdout } = summary;
  if (found.fingerprint !== print) return "Its checkpoint is not the one that it wrote.";
  if (stop.kept > 0 && print === manifest.init_fingerprint)
    return "Its policy is still the one that it began with.";
  const { length: _, ...settings } = manifest.settings;
  const expected = {
    algorithm: manifest.algorithm,
    step: stop.kept,
    settings,
    inputs: manifest.inputs.map(({ role, sha256, rows }) => ({ role, sha256, rows })),
    scorers: rewarding(manifest).map((identity) => ({
      name: identity.name,
      version: identity.version,
      source_sha256: identity.source_sha256,
    })),
    from: manifest.init_fingerprint ?? "scratch",
    holdout_evaluations: holdout.before + holdout.evaluations,
  };
  return canonicalJson(found.trained) === canonicalJson(expected)
    ? undefined
    : "Its checkpoint says that it was trained in another way.";
}
