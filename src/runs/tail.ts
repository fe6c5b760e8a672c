/** Follows a stream of a run while it is written. */

import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError, usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { TEMPORARY } from "./artifacts.ts";
import { MAX_LINE_BYTES } from "./jsonl.ts";
import { lastLineEnd, openIfThere } from "./line-files.ts";
import { toObject } from "./whole-file.ts";

export interface Tail {
  readonly rows: readonly JsonObject[];
  /** Where to go on from. */
  readonly next: number;
  /** The stream is not the one that `from` was a place in: these rows are its first. */
  readonly truncated: boolean;
}

/** About as much is read by one call. */
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/**
 * The whole lines of a stream, such as metrics.jsonl, from a byte offset: 0 at first, then `next`. A
 * line that is still being written comes with a later call; a stream that is not there has no rows.
 */
export async function tail(dir: string, stream: string, from: number): Promise<Tail> {
  if (path.basename(stream) !== stream || !Number.isSafeInteger(from) || from < 0) {
    throw usageError(`${stream} at byte ${from} is no place in a stream of a run`);
  }
  const name = path.join(dir, stream);
  // What appears when the run is finished has the same bytes before, under another name.
  const file = (await openIfThere(name + TEMPORARY)) ?? (await openIfThere(name));
  if (file === undefined) return { rows: [], next: 0, truncated: from > 0 };
  try {
    const start = (await isLineStart(file, from)) ? from : 0;
    const place = `${name}, from byte ${start}`;
    const bytes = await wholeLines(file, start, place);
    return {
      rows: rowsOf(bytes, place),
      next: start + bytes.length,
      truncated: start !== from,
    };
  } catch (error) {
    throw ioError(`read ${name}`, error, "data");
  } finally {
    await file.close();
  }
}

/** The last whole line of a stream; undefined where there is none, or no JSON object. */
export async function lastRow(dir: string, stream: string): Promise<JsonObject | undefined> {
  const file = await openIfThere(path.join(dir, stream)).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const end = await lastLineEnd(file, (await file.stat()).size);
    const start = await lastLineEnd(file, end - 1);
    const line = Buffer.alloc(Math.min(end - start, MAX_LINE_BYTES));
    await file.read(line, 0, line.length, start);
    return toObject(line.toString("utf8"));
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** False in a file that became shorter, or was replaced by one with other lines. */
async function isLineStart(file: FileHandle, at: number): Promise<boolean> {
  if (at === 0) return true;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, at - 1);
  return bytesRead === 1 && buffer[0] === NEWLINE;
}

async function wholeLines(file: FileHandle, start: number, place: string): Promise<Buffer> {
  for (let size = CHUNK_BYTES; ; size = Math.min(2 * size, MAX_LINE_BYTES + 1)) {
    const chunk = Buffer.allocUnsafe(size);
    const { bytesRead } = await file.read(chunk, 0, size, start);
    const end = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1;
    if (end > 0 || bytesRead < size) return chunk.subarray(0, end);
    if (size > MAX_LINE_BYTES) {
      const limit = `${MAX_LINE_BYTES / 1024 / 1024} MiB`;
      throw dataError(
        `${place}: the line is longer than ${limit}`,
        "The stream is damaged; restore it.",
      );
    }
  }
}

function rowsOf(bytes: Buffer, place: string): JsonObject[] {
  const lines = bytes.toString("utf8").split("\n");
  return lines.flatMap((line) => {
    if (line.trim() === "") return [];
    const row = toObject(line);
    if (row) return [row];
    throw dataError(`${place}: a line is no JSON object`, "The stream is damaged; restore it.");
  });
}
