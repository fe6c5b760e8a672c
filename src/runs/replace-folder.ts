/**
 * Writes a folder so that there is always a whole one: the new one is finished beside the old one
 * before it takes its place. Folders cannot be exchanged in one call, so between two renames the old
 * one lies under another name, where `wholeFolder` finds it.
 */

import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ioError } from "../core/errors.ts";
import { type Content, writeDurably } from "./whole-file.ts";

const beside = (dir: string, what: string) => {
  const whole = path.resolve(dir);
  return path.join(path.dirname(whole), `.${path.basename(whole)}.${what}`);
};

/** Where the folder is to be read from: itself, or what a killed writer had moved away. */
export function wholeFolder(dir: string): string {
  const previous = beside(dir, "previous");
  return !existsSync(dir) && existsSync(previous) ? previous : dir;
}

/** Writes the files, then puts the folder in the place of what was there. */
export function replaceFolder(
  dir: string,
  files: Readonly<Record<string, Content>>,
): Promise<void> {
  return fillFolder(dir, async (folder) => {
    for (const [name, content] of Object.entries(files)) {
      await writeDurably(path.join(folder, name), content);
    }
  });
}

/** The same for a folder whose files others write. */
export async function fillFolder(
  dir: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const [partial, previous] = [beside(dir, "partial"), beside(dir, "previous")];
  const target = path.resolve(dir);
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await fill(partial);
    await syncFolder(partial);
    if (existsSync(target)) {
      await rm(previous, { recursive: true, force: true });
      await rename(target, previous);
    }
    await rename(partial, target);
    await syncFolder(path.dirname(target));
    await rm(previous, { recursive: true, force: true });
  } catch (error) {
    await putBack(target, previous);
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    throw ioError(`write ${dir}`, error, "usage");
  }
}

async function putBack(target: string, previous: string): Promise<void> {
  if (!existsSync(target) && existsSync(previous)) await rename(previous, target).catch(() => {});
}

/** The names in a folder; none when it is not there. */
export async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw ioError(`write ${dir}`, error, "usage");
  }
}

/** Not every system lets a folder be opened; where not, there is nothing to do. */
export async function syncFolder(dir: string): Promise<void> {
  try {
    const handle = await open(dir, "r");
    await handle.sync().finally(() => handle.close());
  } catch {
    // The renames are then as durable as the system makes them.
  }
}
