/** The training runs of a workspace, and which of them count as evidence. */

import { existsSync } from "node:fs";
import path from "node:path";
import { canonicalJson, dataError, messageOf } from "../../core/index.ts";
import { loadCheckpoint } from "../../policy/index.ts";
import { readTrainingRun, type TrainSummary } from "../../runs/index.ts";
import { parseJson } from "../evidence.ts";
import { WorkspaceScorers } from "../run-verifier.ts";
import { filesBelow, memoize, textOf } from "../workspace-files.ts";
import type { Training } from "./training.ts";
import { problemInFigures, sabotaged } from "./training-consistency.ts";
import { problemInSamples } from "./training-samples.ts";

/** A folder with a manifest, and what the manifest says it is. */
interface Folder {
  readonly path: string;
  readonly schema: string;
  readonly algorithm: string;
}

export class Trainings {
  readonly dir: string;
  /** Everything below runs/. */
  readonly files: readonly string[];
  /** The folders of training runs. */
  readonly known: readonly Folder[];
  readonly #folders: readonly Folder[];
  readonly scorers: WorkspaceScorers;

  private constructor(dir: string, files: readonly string[], folders: readonly Folder[]) {
    this.dir = dir;
    this.files = files;
    this.#folders = folders;
    this.known = folders.filter(({ schema }) => schema.startsWith("lockedroom.train@"));
    this.scorers = new WorkspaceScorers(dir);
  }

  static async read(dir: string): Promise<Trainings> {
    const files = await filesBelow(dir, "runs");
    const manifests = files.filter((file) => /^runs\/.+\/manifest\.json$/.test(file));
    const folders = manifests.map((file) => {
      const { schema, algorithm } = Object(parseJson(textOf(dir, file)));
      return {
        path: path.posix.dirname(file),
        schema: String(schema),
        algorithm: String(algorithm),
      };
    });
    return new Trainings(dir, files, folders);
  }

  /** The folders of this kind that have the file. */
  foldersWith(kind: "rollout" | "pairs", file: string): string[] {
    return this.#folders
      .filter(
        ({ path: folder, schema }) =>
          schema.startsWith(`lockedroom.${kind}@`) && this.files.includes(`${folder}/${file}`),
      )
      .map(({ path: folder }) => folder);
  }

  /** The run, or why it is not evidence. */
  readonly open = memoize((name: string) => this.#open(name, false));

  /** As `open`; a run that was sabotaged on purpose is accepted, as a failure to be shown. */
  readonly openFailing = memoize((name: string) => this.#open(name, true));

  async #open(name: string, failing: boolean): Promise<Training | string> {
    try {
      const training = await readTraining(this.dir, name);
      const problem =
        (failing ? undefined : sabotaged(training)) ??
        problemInFigures(training) ??
        (await problemInSamples(training, this.scorers)) ??
        (await problemInCheckpoint(this.dir, training));
      return problem ?? training;
    } catch (error) {
      return messageOf(error).replaceAll(this.dir + path.sep, "");
    }
  }
}

async function readTraining(dir: string, name: string): Promise<Training> {
  const folder = path.join(dir, name);
  if (!existsSync(path.join(folder, "summary.json")))
    throw dataError("It is not finished: run the same command with --resume.");
  const records = await readTrainingRun(folder);
  return {
    path: name,
    manifest: records.manifest,
    summary: records.summary as TrainSummary,
    records,
  };
}

/** The checkpoint is there and agrees with the run. */
async function problemInCheckpoint(
  dir: string,
  { path: name, manifest, summary }: Training,
): Promise<string | undefined> {
  const found = await loadCheckpoint(path.join(dir, name, "checkpoint"));
  const { checkpoint_fingerprint: print, stop, holdout } = summary;
  if (found.fingerprint !== print) return "Its checkpoint is not the one that the run wrote.";
  if (stop.kept > 0 && print === manifest.init_fingerprint)
    return "Its policy equals the initial policy.";
  const { length: _, ...settings } = manifest.settings;
  const expected = {
    algorithm: manifest.algorithm,
    step: stop.kept,
    settings,
    inputs: manifest.inputs.map(({ role, sha256, rows }) => ({ role, sha256, rows })),
    scorers: manifest.scorers
      .filter(({ role }) => role !== "validation")
      .map(({ identity: { name: named, version, source_sha256 } }) => ({
        ...{ name: named, version, source_sha256 },
      })),
    from: manifest.init_fingerprint ?? "scratch",
    holdout_evaluations: holdout.before + holdout.evaluations,
  };
  const agrees = Object.entries(expected).every(
    ([key, value]) => canonicalJson(found.trained?.[key] ?? null) === canonicalJson(value),
  );
  return agrees ? undefined : "Its checkpoint records another training.";
}
