/** The training runs of a workspace, and which of them count as evidence. */

import path from "node:path";
import { messageOf } from "../../core/index.ts";
import { parseJson } from "../evidence.ts";
import { filesBelow, memoize, textOf } from "../workspace-files.ts";
import { WorkspaceScorers } from "../workspace-scorers.ts";
import { problemInCheckpoint, readTraining, type Training } from "./training.ts";
import { problemInFigures } from "./training-consistency.ts";
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

  /** The first folder of this kind that has the file. */
  folderWith(kind: "rollout" | "pairs", file: string): string | undefined {
    return this.#folders.find(
      ({ path: folder, schema }) =>
        schema.startsWith(`lockedroom.${kind}@`) && this.files.includes(`${folder}/${file}`),
    )?.path;
  }

  /** The run, or why it is not evidence. */
  readonly open = memoize(
    (name: string) => this.#open(name),
    (name) => name,
  );

  async #open(name: string): Promise<Training | string> {
    try {
      const training = await readTraining(this.dir, name);
      const problem =
        problemInFigures(training) ??
        (await problemInSamples(training, this.scorers)) ??
        (await problemInCheckpoint(this.dir, training));
      return problem ?? training;
    } catch (error) {
      return messageOf(error).replaceAll(this.dir + path.sep, "");
    }
  }
}
