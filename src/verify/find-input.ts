/**
 * Finds what a run names: where it was, relative to the current folder, or anywhere below a folder that
 * is given. Only the recorded content counts, so that neither its place nor its name matters.
 */

import path from "node:path";
import { LockedRoomError, messageOf } from "../core/errors.ts";
import { filesBelow } from "../runs/files-below.ts";
import { fileExists, sha256OfFile } from "../runs/whole-file.ts";
import { Unreachable } from "./part.ts";

export interface Places {
  /** A folder to look below as well. */
  readonly from?: string | undefined;
  /** The gate asks: it has --verify-from, and no flags that name one file. */
  readonly forGate?: boolean | undefined;
}

/** Where a path may lead now, the recorded place first. */
export function candidatesOf(recorded: string, { from }: Places): string[] {
  if (from === undefined) return [recorded];
  const inside = path.isAbsolute(recorded) ? [] : [path.join(from, recorded)];
  return [...new Set([recorded, ...inside, path.join(from, path.basename(recorded))])];
}

interface RecordedFile {
  readonly path: string | null;
  readonly sha256: string;
  /** Files of another size are not read. */
  readonly bytes?: number | undefined;
}

/** The file with the recorded content, or an `Unreachable` that says what was found instead. */
export async function findFile(
  what: string,
  { path: recorded, sha256, bytes }: RecordedFile,
  places: Places,
): Promise<string> {
  if (recorded === null) throw new Unreachable(`The ${what} came from memory: there is no file.`);
  const hasContent = async (file: string) =>
    (await sha256OfFile(file).catch(() => undefined)) === sha256;
  let other: string | undefined;
  for (const file of candidatesOf(recorded, places)) {
    if (!fileExists(file)) continue;
    if (await hasContent(file)) return file;
    other ??= file;
  }
  const { files, note } = await lookBelow(places);
  for (const found of files)
    if ((bytes === undefined || bytes === found.bytes) && (await hasContent(found.file)))
      return found.file;
  throw new Unreachable(
    other === undefined
      ? `The ${what} ${recorded} is not there. ${whereToLook(places)}${note}`
      : `The ${what} ${other} has changed since the run.${note}`,
  );
}

/** Every file below the given folder, with a remark if there are too many. */
export async function lookBelow({ from }: Places) {
  if (from === undefined) return { files: [], note: "" };
  const { files, complete } = await filesBelow(from);
  const note = complete
    ? ""
    : ` Only the first ${files.length} files below ${from} were looked at; name a smaller folder.`;
  return { files, note };
}

export function whereToLook({ from, forGate }: Places): string {
  return from === undefined
    ? `Start from the folder where the run was made, or name one with ${forGate ? "--verify-from" : "--from"}.`
    : `It is not below ${from} either.`;
}

/** The result, or why there is none; what is no sentence of ours is thrown on. */
export async function reached<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly why: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof Unreachable) return { why: error.message };
    if (!(error instanceof LockedRoomError) || error.kind === "io") throw error;
    const hint = error.hint === undefined ? "" : ` ${error.hint}`;
    return { why: `${messageOf(error)}.${hint}` };
  }
}
