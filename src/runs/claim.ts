/** Only one process writes a run folder at a time: its claim on it, `.running`. */

import { lstat, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../core/errors.ts";
import { RUNNING } from "./artifacts.ts";
import { isRunKind, type RunKind } from "./kinds.ts";

export interface Claim {
  /** The process that is writing now; undefined when it has ended, 0 when it is another user's. */
  readonly writer: number | undefined;
  readonly kind: RunKind | undefined;
  readonly since: Date;
}

/** The folders that this process writes now. */
const ours = new Set<string>();

/** Those that it is about to claim: a claim takes several calls. */
const claiming = new Set<string>();

/**
 * A claim whose process has ended is void. The claim is a link that points at the process's number
 * and the kind of run, because a link is created atomically.
 */
export async function claim(dir: string, kind: RunKind): Promise<void> {
  const file = path.join(dir, RUNNING);
  const folder = path.resolve(dir);
  if (ours.has(folder) || claiming.has(folder)) throw taken(dir, file, process.pid);
  const text = `${process.pid} ${kind}`;
  claiming.add(folder);
  try {
    if (!(await made(file, text)) && !(await takeOver(dir, file, text))) throw taken(dir, file);
    ours.add(folder);
  } finally {
    claiming.delete(folder);
  }
}

export async function release(dir: string): Promise<void> {
  await rm(path.join(dir, RUNNING), { force: true }).catch(() => {});
  ours.delete(path.resolve(dir));
}

/** Undefined when the folder is not claimed. */
export async function readClaim(dir: string): Promise<Claim | undefined> {
  const file = path.join(dir, RUNNING);
  const text = await claimText(file);
  if (text === undefined) return undefined;
  const kind = text.trim().split(" ")[1] ?? "";
  const since = await lstat(file).then(
    ({ mtime }) => mtime,
    () => new Date(),
  );
  const writer = living(dir, Number.parseInt(text, 10));
  return { writer, since, kind: isRunKind(kind) ? kind : undefined };
}

function living(dir: string, pid: number): number | undefined {
  // Containers count processes from 1 every time: our own number on a claim we did not make is stale.
  if (!(pid > 0) || (pid === process.pid && !ours.has(path.resolve(dir)))) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? 0 : undefined;
  }
}

/** Only one process can rename a dead claim away; a live one that was caught is put back. */
async function takeOver(dir: string, file: string, text: string): Promise<boolean> {
  const stale = await claimText(file);
  const writer = (await readClaim(dir))?.writer;
  if (writer !== undefined) throw taken(dir, file, writer);
  const aside = `${file}.${process.pid}`;
  try {
    await rename(file, aside);
  } catch {
    return false;
  }
  const caught = await claimText(aside);
  await rm(aside, { force: true });
  if (caught === stale) return made(file, text);
  await symlink(String(caught), file).catch(() => {});
  return false;
}

async function claimText(file: string): Promise<string | undefined> {
  return readlink(file).catch(() => readFile(file, "utf8").catch(() => undefined));
}

async function made(file: string, text: string): Promise<boolean> {
  try {
    await symlink(text, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOSYS") throw error;
  }
  // Where links are not to be had, a file does.
  return writeFile(file, `${text}\n`, { flag: "wx" }).then(
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
