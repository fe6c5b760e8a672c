/** Names of the runs on a page: the folder's name, with as much of its path as makes it unique. */

import path from "node:path";
import { usageError } from "../../core/errors.ts";
import { visible } from "../../core/visible.ts";

export interface Named<R> {
  readonly name: string;
  readonly run: R;
}

export function nameRuns<R extends { readonly dir: string }>(runs: readonly R[]): Named<R>[] {
  const paths = runs.map(({ dir }) => path.resolve(dir).split(path.sep));
  const twice = runs.find((_, i) => paths.findIndex((one) => isSame(one, paths[i])) < i);
  if (twice) throw usageError(`${twice.dir} is given twice`, "Give each run once.");
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
