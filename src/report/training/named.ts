/** What the runs of a page are called: the folder's name, with as much of its path as tells it apart. */

import path from "node:path";
import { usageError } from "../../core/errors.ts";
import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";

export interface Named {
  readonly name: string;
  readonly run: TrainingRunRecords;
}

export function nameRuns(runs: readonly TrainingRunRecords[]): Named[] {
  const paths = runs.map(({ dir }) => path.resolve(dir).split(path.sep));
  const twice = runs.find((_, i) => paths.findIndex((one) => isSame(one, paths[i])) < i);
  if (twice) throw usageError(`${twice.dir} is named twice`, "Name each run once.");
  const longest = Math.max(...paths.map((parts) => parts.length));
  for (let depth = 1; depth <= longest; depth++) {
    const names = paths.map((parts) => parts.slice(-depth).join("/"));
    if (new Set(names).size === names.length)
      return runs.map((run, i) => ({ run, name: visible(names[i] ?? "") }));
  }
  throw new Error("different paths have different names");
}

const isSame = (one: readonly string[], other: readonly string[] = []) =>
  one.join(path.sep) === other.join(path.sep);
