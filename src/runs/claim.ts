/** Whose is an output folder? A run claims it, one writer at a time, and never touches a stranger's. */

import { realpathSync } from "node:fs";
import { readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../core/errors.ts";
import { JOURNAL, RUNNING, SUMMARY } from "./artifacts.ts";

/** Ours to write: an empty folder, an interrupted run (its claim is still there), or with force a finished one. */
export async function refuseForeignFolder(dir: string, force: boolean): Promise<void> {
  if (await refuseFinishedRun(dir, force)) return;
  const names = await readdir(dir);
  if (names.includes(JOURNAL)) {
    throw usageError(
      `${dir} holds an unfinished rollout`,
      "Choose another --outdir; `rollout --resume` goes on with what is there.",
    );
  }
  if (names.length > 0 && !names.some((name) => name.startsWith(RUNNING))) {
    throw usageError(
      `${dir} is not empty and is not a run (it holds ${names.slice(0, 3).join(", ")})`,
      "Choose a new or empty folder for --outdir.",
    );
  }
}

/** True for a finished run that may be replaced; one that may not is refused. */
export async function refuseFinishedRun(dir: string, force: boolean): Promise<boolean> {
  if ((await readSummary(dir)) === undefined) return false;
  if (force) return true;
  throw usageError(
    `${dir} already holds a finished run`,
    "Choose another --outdir, or replace it with --force.",
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

/** The further files of the run that lies here, by its own account; names only, never paths. */
export async function filesOfRun(dir: string): Promise<string[]> {
  const { files } = (await readSummary(dir)) ?? {};
  return Object.keys(files ?? {}).filter((name) => path.basename(name) === name);
}

async function readSummary(dir: string): Promise<{ files?: object } | undefined> {
  try {
    const summary = JSON.parse(await readFile(path.join(dir, SUMMARY), "utf8"));
    return String(summary.schema).startsWith("lockedroom.") ? summary : undefined;
  } catch {
    return undefined;
  }
}

/** The folders that this process writes now. */
const ours = new Set<string>();

export function release(dir: string): void {
  ours.delete(path.resolve(dir));
}

/**
 * Only one writer at a time; a claim whose process is gone is void. The claim is a link that points
 * at the process's number: it appears whole or not at all, so nobody ever reads half of it.
 */
export async function claim(dir: string): Promise<void> {
  const file = path.join(dir, RUNNING);
  if (!(await made(file)) && !(await takeOver(dir, file))) throw taken(dir, file);
  ours.add(path.resolve(dir));
}

/** Only one process can rename a dead claim away; whoever caught a live one puts it back. */
async function takeOver(dir: string, file: string): Promise<boolean> {
  const stale = await claimText(file);
  const owner = await writerOf(dir);
  if (owner !== undefined) throw taken(dir, file, owner);
  const aside = `${file}.${process.pid}`;
  try {
    await rename(file, aside);
  } catch {
    return false;
  }
  const caught = await claimText(aside);
  await rm(aside, { force: true });
  if (caught === stale) return made(file);
  await symlink(String(caught), file).catch(() => {});
  return false;
}

async function claimText(file: string): Promise<string | undefined> {
  return readlink(file).catch(() => readFile(file, "utf8").catch(() => undefined));
}

async function made(file: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOSYS") throw error;
  }
  // Where links are not to be had, a file does.
  return writeFile(file, `${process.pid}\n`, { flag: "wx" }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

function taken(dir: string, file: string, owner = 0): Error {
  return usageError(
    `${dir} is being written by another process${owner > 0 ? ` (${owner})` : ""}`,
    `Wait for it, or choose another --outdir. If nothing is running, delete ${file}.`,
  );
}

/** The process that is writing the run now, if it still lives. */
export async function writerOf(dir: string): Promise<number | undefined> {
  try {
    const file = path.join(dir, RUNNING);
    const pid = Number.parseInt((await claimText(file)) ?? "", 10);
    // Containers count processes from 1 every time: our own number on a claim we did not make is stale.
    if (pid === process.pid && !ours.has(path.resolve(dir))) return undefined;
    if (!(pid > 0)) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? 0 : undefined;
  }
}
