/** Runs that documented steps made in a clean folder: whole, made there and then, with these figures. */

import path from "node:path";
import { canonicalJson } from "../../core/index.ts";
import { parseJson } from "../evidence.ts";
import { filesBelow, textOf } from "../workspace-files.ts";
import { WorkspaceRuns } from "../workspace-runs.ts";
import { Trainings } from "./trainings.ts";

/** Of eval, selection-demo and the tabular runs. */
const MANIFEST_SCHEMA = "lockedroom.manifest@1";
/** Fields that differ between folders; all others must be equal. */
const VOLATILE = ["files", "manifest_sha256"];

/** The figures of a finished run of any kind, as text; undefined where there is none. */
export function figuresOf(dir: string, run: string): string | undefined {
  const summary = parseJson(textOf(dir, `${run}/summary.json`));
  if (typeof summary !== "object" || summary === null) return undefined;
  const figures = Object.entries(summary).filter(([name]) => !VOLATILE.includes(name));
  // With its kind: another kind of run is checked otherwise.
  const { schema = null } = Object(parseJson(textOf(dir, `${run}/manifest.json`)));
  return canonicalJson({ kind: schema, ...Object.fromEntries(figures) });
}

/** The figures of every finished run of a folder, by its path. */
export async function figuresIn(dir: string): Promise<ReadonlyMap<string, string>> {
  const runs = (await filesBelow(dir, "runs"))
    .filter((file) => file.endsWith("/summary.json"))
    .map((file) => path.posix.dirname(file));
  return new Map(
    runs.flatMap((run) => {
      const figures = figuresOf(dir, run);
      return figures === undefined ? [] : [[run, figures] as const];
    }),
  );
}

/** Why a run was not made by steps that began at this time; undefined where it was. */
export class MadeRuns {
  readonly #dir: string;
  readonly #since: Date;
  readonly #runs: WorkspaceRuns;
  readonly #trainings: Trainings;

  private constructor(dir: string, since: Date, runs: WorkspaceRuns, trainings: Trainings) {
    this.#dir = dir;
    this.#since = since;
    this.#runs = runs;
    this.#trainings = trainings;
  }

  static async read(dir: string, since: Date): Promise<MadeRuns> {
    return new MadeRuns(dir, since, await WorkspaceRuns.read(dir), await Trainings.read(dir));
  }

  async problemOf(run: string): Promise<string | undefined> {
    const manifest = Object(parseJson(textOf(this.#dir, `${run}/manifest.json`)));
    const started = Date.parse(String(Object(manifest.volatile).started_at));
    if (Number.isNaN(started)) return "it has no manifest that says when it was made";
    if (started < this.#since.getTime()) return "it was made before the steps began";
    if (this.#trainings.known.some(({ path: known }) => known === run)) {
      // A failure that is shown on purpose is made by a step too.
      const opened = await this.#trainings.openFailing(run);
      return typeof opened === "string" ? opened : undefined;
    }
    const known = this.#runs.runs.find((one) => one.path === run);
    if (known) return this.#runs.problemOf(known);
    // Samples and pairs are opened otherwise, and no criterion takes them for a run.
    if (manifest.schema !== MANIFEST_SCHEMA) return undefined;
    return this.#runs.unreadable.find((one) => one.path === run)?.problem;
  }
}
