/**
 * Streams a JSONL file as batches of records, and fingerprints its bytes on the way. Every problem
 * is reported with file and line; nothing is skipped but blank lines.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { z } from "zod";
import { dataError, ioError, LockedRoomError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import { refuseFolder } from "./folder-kind.ts";
import { openRegular } from "./regular-file.ts";
import type { inputFile } from "./schemas.ts";

/** A longer line is refused: it is a damaged file, and would have to be held whole in memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

export interface ReadOptions {
  /** Called with the number of bytes just read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Reads no more than so many bytes, which end a line; what follows is left alone. */
  readonly upTo?: number | undefined;
  /** A file of a run: pipes are refused. What the user names may be one. */
  readonly regular?: boolean | undefined;
}

/** One file being read. `sha256`, `bytes` and `rows` are complete once `batches()` has ended. */
export class JsonlFile<T> {
  readonly path: string;
  readonly #parse: (fields: Record<string, unknown>, line: number) => T;
  readonly #options: ReadOptions;
  readonly #hash = createHash("sha256");
  #line = 0;
  bytes = 0;
  rows = 0;
  sha256 = "";

  constructor(
    path: string,
    parse: (fields: Record<string, unknown>, line: number) => T,
    options: ReadOptions = {},
  ) {
    this.path = path;
    this.#parse = parse;
    this.#options = options;
  }

  get label(): string {
    return this.path;
  }

  /** How a manifest names this file. */
  asInput(role: string): z.infer<typeof inputFile> {
    return { role, path: this.path, sha256: this.sha256, bytes: this.bytes, rows: this.rows };
  }

  async *batches(): AsyncGenerator<T[], void, void> {
    for await (const text of this.#lines()) {
      const batch: T[] = [];
      let start = 0;
      while (start < text.length) {
        const end = text.indexOf("\n", start);
        this.#record(text.slice(start, end), batch);
        start = end + 1;
      }
      this.rows += batch.length;
      if (batch.length > 0) yield batch;
    }
    this.sha256 = this.#hash.digest("hex");
  }

  #record(raw: string, batch: T[]): void {
    this.#line++;
    // No character takes more than three bytes for each unit of its length.
    if (raw.length > MAX_LINE_BYTES / 3 && Buffer.byteLength(raw) > MAX_LINE_BYTES)
      throw this.#tooLong(raw.slice(0, 40));
    if (raw === "" || raw.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch (error) {
      throw this.#problem(`not valid JSON (${jsonProblem(error)})`, raw, notANumber(raw));
    }
    if (!isFields(value)) throw this.#problem("not a JSON object", raw);
    try {
      batch.push(this.#parse(value, this.#line));
    } catch (error) {
      const hint = error instanceof LockedRoomError ? error.hint : undefined;
      throw this.#problem(messageOf(error), raw, hint);
    }
  }

  /**
   * Pieces of text that each end at a line's end. One buffer is used over and over: what is left of
   * a line moves to its front, and it grows only for a line that does not fit.
   */
  async *#lines(): AsyncGenerator<string, void, void> {
    const file = await openFile(this.path, this.#options.regular);
    try {
      let buffer: Buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      let kept = 0;
      for (;;) {
        const bytesRead = await this.#read(file, buffer, kept);
        if (bytesRead === 0) break;
        const filled = kept + bytesRead;
        const end = buffer.subarray(0, filled).lastIndexOf(NEWLINE) + 1;
        if (end > 0) yield this.#decode(buffer.subarray(0, end));
        buffer.copyWithin(0, end, filled);
        kept = filled - end;
        if (kept > MAX_LINE_BYTES) {
          this.#line++;
          throw this.#tooLong(buffer.toString("latin1", 0, 40));
        }
        if (kept === buffer.length) {
          const larger = Math.min(2 * kept, MAX_LINE_BYTES + CHUNK_BYTES);
          buffer = Buffer.concat([buffer], larger);
        }
      }
      if (kept > 0)
        yield this.#decode(Buffer.concat([buffer.subarray(0, kept), Buffer.from("\n")]));
    } finally {
      await file.close();
    }
  }

  async #read(file: FileHandle, buffer: Buffer, from: number): Promise<number> {
    const wanted = Math.min(
      buffer.length - from,
      (this.#options.upTo ?? Number.POSITIVE_INFINITY) - this.bytes,
    );
    try {
      const { bytesRead } = await file.read(buffer, from, wanted, null);
      this.#hash.update(buffer.subarray(from, from + bytesRead));
      this.bytes += bytesRead;
      this.#options.onBytes?.(bytesRead);
      return bytesRead;
    } catch (error) {
      throw ioError(`read ${this.path}`, error, "data");
    }
  }

  /** Strings of one byte a character are smaller and faster, and most data is ASCII. */
  #decode(bytes: Buffer): string {
    if (isAscii(bytes)) return bytes.toString("latin1");
    if (isUtf8(bytes))
      return this.#line === 0 ? withoutByteOrderMark(bytes) : bytes.toString("utf8");
    for (let start = 0, line = this.#line + 1; ; line++) {
      const end = bytes.indexOf(NEWLINE, start);
      if (!isUtf8(bytes.subarray(start, end))) {
        throw dataError(
          `${this.path}:${line}: not valid UTF-8`,
          "Save the file as UTF-8; nothing was read past this line.",
        );
      }
      start = end + 1;
    }
  }

  #problem(problem: string, raw: string, hint?: string): Error {
    const line = `The line reads: ${visibleShort(raw.trim(), 60)}`;
    return dataError(`${this.path}:${this.#line}: ${problem}`, hint ? `${hint} ${line}` : line);
  }

  #tooLong(start: string): Error {
    return dataError(
      `${this.path}:${this.#line}: the line is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`,
      `Is it one JSON object per line? The line starts: ${visibleShort(start, 40)}`,
    );
  }
}

async function openFile(path: string, regular = false): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    if (regular) return await openRegular(path);
    file = await open(path, "r");
    if (!(await file.stat()).isDirectory()) return file;
    await refuseFolder(path);
    throw Object.assign(new Error(), { code: "EISDIR" });
  } catch (error) {
    await file?.close();
    throw ioError(`read ${path}`, error, "data");
  }
}

function withoutByteOrderMark(bytes: Buffer): string {
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}

/** Python writes NaN and infinities as words, which JSON does not have. */
function notANumber(raw: string): string | undefined {
  const word = /[[:,]\s*(-?Infinity|NaN)\s*[,\]}]/.exec(raw)?.[1];
  return word && `${word} is not a JSON number: write null where there is no number.`;
}

/** V8 quotes the whole text in its message; the reader shows the line itself, shortened. */
function jsonProblem(error: unknown): string {
  return messageOf(error)
    .replace(/, ?"?[\s\S]*$/, "")
    .replace(/ \(line.*$/, "");
}
