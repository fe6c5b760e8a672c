/** The training runs of a workspace, and which of them may count as evidence. */

import path from "node:path";
import { messageOf } from "../../core/index.ts";
import { filesBelow, textOf } from "../workspace-files.ts";
import { Rejudge } from "./rejudge.ts";
import { problemInCheckpoint, readTraining, type Training } from "./training.ts";
import { problemInFigures } from "./training-figures.ts";

/** A folder with a manifest, and what that says it is. */
interface Made {
  readonly path: string;
  readonly schema: string;
  readonly algorithm: string;
}

export class Trainings {
  readonly dir: string;
  /** Everything below runs/. */
  readonly files: readonly string[];
  /** Each folder that says it is a training run. */
  readonly known: readonly Made[];
  readonly #made: readonly Made[];
  readonly rejudge: Rejudge;
  readonly #opened = new Map<string, Promise<Training | string>>();

  private constructor(dir: string, files: readonly string[], made: readonly Made[]) {
    this.dir = dir;
    this.files = files;
    this.#made = made;
    this.known = made.filter(({ schema }) => schema.startsWith("lockedroom.train@"));
    this.rejudge = new Rejudge(dir);
  }

  static async read(dir: string): Promise<Trainings> {
    const files = await filesBelow(dir, "runs");
    const manifests = files.filter((file) => /^runs\/.+\/manifest\.json$/.test(file));
    const made = manifests.map((file) => ({
      path: path.posix.dirname(file),
      ...saidIn(textOf(dir, file) ?? ""),
    }));
    return new Trainings(dir, files, made);
  }

  /** The first folder of this kind that has the file. */
  folderWith(kind: "rollout" | "pairs", file: string): string | undefined {
    return this.#made.find(
      ({ path: folder, schema }) =>
        schema.startsWith(`lockedroom.${kind}@`) && this.files.includes(`${folder}/${file}`),
    )?.path;
  }

  /** The run as it was written, or why it is no evidence; asked once. */
  open(name: string): Promise<Training | string> {
    const opened = this.#opened.get(name) ?? this.#open(name);
    this.#opened.set(name, opened);
    return opened;
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

function saidIn(manifest: string): Pick<Made, "schema" | "algorithm"> {
  try {
    const { schema, algorithm } = JSON.parse(manifest);
    return { schema: String(schema), algorithm: String(algorithm) };
  } catch {
    return { schema: "", algorithm: "" };
  }
}
