/** A file of lines that is made as they come, and is there as a whole or not at all. */

import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { ioError, usageError } from "../core/errors.ts";
import { TEMPORARY } from "./artifacts.ts";
import { LineFile } from "./line-files.ts";
import { fileExists } from "./whole-file.ts";

export interface WrittenLines {
  readonly sha256: string;
  readonly lines: number;
}

export function refuseExisting(file: string, force: boolean | undefined): void {
  if (force || !fileExists(file)) return;
  throw usageError(`${file} exists already`, "Choose another name, or add --force to replace it.");
}

/** Folders on the way are made; after an error the file's own is gone again. An error of the lines themselves is passed on. */
export async function writeLines(
  file: string,
  force: boolean | undefined,
  lines: AsyncIterable<string>,
): Promise<WrittenLines> {
  refuseExisting(file, force);
  const partial = file + TEMPORARY;
  const folder = path.dirname(path.resolve(file));
  let output: LineFile | undefined;
  let made: string | undefined;
  try {
    made = await mkdir(folder, { recursive: true });
    output = await LineFile.create(partial);
    let written = 0;
    for await (const line of lines) {
      output.add(line);
      written++;
      await output.flush();
    }
    const sha256 = await output.end();
    await rename(partial, file);
    return { sha256, lines: written };
  } catch (error) {
    await output?.abandon();
    await rm(partial, { force: true }).catch(() => {});
    if (made !== undefined) await rmdir(folder).catch(() => {});
    throw isSystemError(error) ? ioError(`write ${file}`, error, "usage") : error;
  }
}

function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === "string";
}
