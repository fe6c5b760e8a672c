/**
 * Opens the files of runs and checkpoints, which are regular files. To open a pipe would wait for
 * whoever writes to it, and a link would have the run write to a file elsewhere.
 */

import { constants, type FileHandle, lstat, open } from "node:fs/promises";
import { dataError, type LockedRoomError } from "../core/errors.ts";

const { O_APPEND, O_RDONLY, O_WRONLY } = constants;
/** Not to be had everywhere. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** For reading. Errors of the system are left to the caller. */
export async function openRegular(file: string): Promise<FileHandle> {
  return requireRegular(file, await open(file, O_RDONLY | O_NONBLOCK).catch(named(file)));
}

/** For adding to a file that is there. */
export async function openToAppend(file: string): Promise<FileHandle> {
  await refuseOther(file);
  const flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  return requireRegular(file, await open(file, flags).catch(named(file)));
}

/** Refuses what is there and is no file: a link, a folder, a pipe. */
export async function refuseOther(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (!found || found.isFile()) return;
  if (found.isSymbolicLink())
    throw dataError(`${file} is a symbolic link, not a file`, "Put the file itself in its place.");
  throw found.isDirectory()
    ? dataError(`${file} is a folder, not a file`, "Remove it, or restore the run.")
    : notRegular(file);
}

async function requireRegular(file: string, handle: FileHandle): Promise<FileHandle> {
  const found = await handle.stat();
  if (found.isFile()) return handle;
  await handle.close();
  if (found.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
  throw notRegular(file);
}

/** A socket, or a pipe that nobody reads, cannot even be opened. */
function named(file: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw error.code === "ENXIO" ? notRegular(file) : error;
  };
}

export function notRegular(file: string): LockedRoomError {
  return dataError(`${file} is not a regular file`, "Remove it, or restore the run.");
}
