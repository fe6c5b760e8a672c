/** Whether a run may be written to a folder. People's files and other runs are never overwritten. */

import { existsSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../core/errors.ts";
import { RUNNING } from "./artifacts.ts";
import { contentOf } from "./folder-kind.ts";
import { aRun, describeKind, nextStep, type RunKind } from "./kinds.ts";

export interface FolderOptions {
  /** Replace a finished run of the same kind, or start an unfinished one over. */
  readonly force?: boolean | undefined;
  /** Continue an unfinished one. */
  readonly resume?: boolean | undefined;
  /** Files that are read; none may lie in the folder that is written. */
  readonly inputs?: readonly string[] | undefined;
}

/**
 * May be written: an empty folder, a run of this kind that was interrupted, and with --force a
 * finished one. What can be resumed is started over only with --force.
 */
export async function requireWritable(
  dir: string,
  kind: RunKind,
  { force, resume }: FolderOptions,
): Promise<void> {
  const { kind: found, summary, claim } = await contentOf(dir);
  const names = (await readdir(dir)).filter((name) => !name.startsWith(RUNNING));
  const wanted = describeKind(kind);
  if (names.length === 0) return;
  if (found && describeKind(found).manifest !== wanted.manifest) {
    const finished = summary !== undefined;
    throw usageError(
      `${dir} holds ${aRun(found, finished)}, which another command wrote`,
      `Choose another --outdir. ${nextStep(found, finished, dir)}`,
    );
  }
  if (found && summary) {
    if (force || (resume && wanted.resumesFinished)) return;
    throw usageError(
      `${dir} already holds a finished ${describeKind(found).name}`,
      "Choose another --outdir, or replace it with --force.",
    );
  }
  if (found && wanted.resumesFrom && existsSync(path.join(dir, wanted.resumesFrom))) {
    if (force || resume) return;
    throw usageError(
      `${dir} holds an unfinished ${wanted.name}`,
      "Continue it with the same command and --resume, or start over with --force.",
    );
  }
  if (claim) return;
  throw usageError(
    `${dir} is not empty and holds no ${wanted.name} (it holds ${names.slice(0, 3).join(", ")})`,
    "Choose a new or empty folder for --outdir.",
  );
}

/** A run never writes where it reads from: `--force` would replace what it is made of. */
export function refuseOwnInputs(dir: string, inputs: readonly string[]): void {
  const folder = realPath(dir);
  const inside = inputs.find((input) => realPath(input).startsWith(folder + path.sep));
  if (inside === undefined) return;
  throw usageError(`${inside} lies in the output folder ${dir}`, "Choose another --outdir.");
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
