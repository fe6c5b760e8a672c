/** Only one process writes a run folder at a time: its claim on it, `.running`. */

import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { lstat, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { usageError } from "../core/errors.ts";
import { RUNNING } from "./artifacts.ts";
import { isRunKind, type RunKind } from "./kinds.ts";

export interface Claim {
  /** The process that is writing now; undefined when it has ended, 0 when it has no number here. */
  readonly writer: number | undefined;
  readonly kind: RunKind | undefined;
  readonly since: Date;
}

/** When this process began, in seconds; its threads have the same. */
const START = Math.round(Date.now() / 1000 - process.uptime());
const START_TOLERANCE = 2;

/** Where process numbers mean the same: this machine, or this container on it. */
const PLACE = encodeURIComponent(`${os.hostname()} ${pidNamespace()}`);

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/**
 * A claim whose process has ended is void. The claim is a link, because a link is created
 * atomically; it points at the text that is returned, which no other claim has.
 */
export async function claim(dir: string, kind: RunKind): Promise<string> {
  const file = path.join(dir, RUNNING);
  const text = `${process.pid} ${kind} ${START} ${PLACE} ${randomUUID()}`;
  if (!(await made(file, text)) && !(await takeOver(dir, file, text))) throw taken(dir, file);
  return text;
}

/** Removes this claim; another's stays. */
export async function release(dir: string, text: string): Promise<void> {
  const file = path.join(dir, RUNNING);
  if ((await claimText(file)) === text) await rm(file, { force: true }).catch(() => {});
}

/** Whether the folder has this claim, another one, or none. */
export async function claimState(dir: string, text: string): Promise<"ours" | "other" | "none"> {
  const found = await claimText(path.join(dir, RUNNING));
  if (found === undefined) return "none";
  return found === text ? "ours" : "other";
}

/** Undefined when the folder is not claimed. */
export async function readClaim(dir: string): Promise<Claim | undefined> {
  const file = path.join(dir, RUNNING);
  const text = await claimText(file);
  if (text === undefined) return undefined;
  const kind = text.split(" ")[1] ?? "";
  const since = await lstat(file).then(
    ({ mtime }) => mtime,
    () => new Date(),
  );
  return { writer: writerOf(text), since, kind: isRunKind(kind) ? kind : undefined };
}

/** A process elsewhere cannot be asked, and counts as alive. */
function writerOf(text: string): number | undefined {
  const [number = "", , start, place = PLACE] = text.split(" ");
  const pid = Number.parseInt(number, 10);
  if (!(pid > 0)) return undefined;
  if (place !== PLACE) return 0;
  // Containers count processes from 1 every time: our own number with another start is stale.
  if (pid === process.pid && !(Math.abs(Number(start) - START) <= START_TOLERANCE))
    return undefined;
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
  if (stale === undefined) return false;
  const writer = writerOf(stale);
  if (writer !== undefined) throw taken(dir, file, writer);
  const aside = `${file}.${randomUUID()}`;
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

/** Undefined for what is missing, and for what is neither a link nor a file. */
async function claimText(file: string): Promise<string | undefined> {
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink()) return await readlink(file);
    return found.isFile() ? (await readFile(file, "utf8")).trim() : undefined;
  } catch {
    return undefined;
  }
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
