/** Whose is an output folder? A run claims it, one writer at a time, and never touches a stranger's. */

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../core/errors.ts";
import { RUNNING, SUMMARY } from "./artifacts.ts";

/** Ours to write: an empty folder, an interrupted run (its claim is still there), or with force a finished one. */
export async function refuseForeignFolder(dir: string, force: boolean): Promise<void> {
  const names = await readdir(dir);
  if (await isFinishedRun(dir)) {
    if (force) return;
    throw usageError(
      `${dir} already holds a finished run`,
      "Choose another --outdir, or replace it with --force.",
    );
  }
  if (names.length > 0 && !names.includes(RUNNING)) {
    throw usageError(
      `${dir} is not empty and is not a run (it holds ${names.slice(0, 3).join(", ")})`,
      "Choose a new or empty folder for --outdir.",
    );
  }
}

async function isFinishedRun(dir: string): Promise<boolean> {
  try {
    const summary: unknown = JSON.parse(await readFile(path.join(dir, SUMMARY), "utf8"));
    return String((summary as { schema?: unknown }).schema).startsWith("lockedroom.");
  } catch {
    return false;
  }
}

/** The folders that this process writes now. */
const ours = new Set<string>();

export function release(dir: string): void {
  ours.delete(path.resolve(dir));
}

/** Only one writer at a time; a claim whose process is gone is void. */
export async function claim(dir: string): Promise<void> {
  const file = path.join(dir, RUNNING);
  for (const retry of [true, false]) {
    try {
      await writeFile(file, `${process.pid}\n`, { flag: "wx" });
      ours.add(path.resolve(dir));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const owner = await writerOf(dir);
      if (owner !== undefined || !retry) {
        throw usageError(
          `${dir} is being written by another process${owner ? ` (${owner})` : ""}`,
          "Wait for it, or choose another --outdir.",
        );
      }
      await rm(file, { force: true });
    }
  }
}

/** The process that is writing the run now, if it still lives. */
export async function writerOf(dir: string): Promise<number | undefined> {
  try {
    const pid = Number.parseInt(await readFile(path.join(dir, RUNNING), "utf8"), 10);
    // Containers count processes from 1 every time: our own number on a claim we did not make is stale.
    if (pid === process.pid && !ours.has(path.resolve(dir))) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? 0 : undefined;
  }
}
