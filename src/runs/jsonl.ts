/**
 * Streams a JSONL file as batches of records, and fingerprints its bytes on the way. Every problem
 * is reported with file and line; nothing is skipped but blank lines.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { dataError, ioError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";

/** A longer line is refused: it is a damaged file, and would have to be held whole in memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 128 * 1024;
const NEWLINE = 10;

export interface ReadOptions {
  /** Called with the number of bytes just read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** One file being read. `sha256`, `bytes` and `rows` are complete once `batches()` has ended. */
export class JsonlFile<T> {
  readonly path: string;
  readonly #parse: (fields: Record<string, unknown>) => T;
  readonly #options: ReadOptions;
  readonly #hash = createHash("sha256");
  #line = 0;
  bytes = 0;
  rows = 0;
  sha256 = "";

  constructor(
    path: string,
    parse: (fields: Record<string, unknown>) => T,
    options: ReadOptions = {},
  ) {
    this.path = path;
    this.#parse = parse;
    this.#options = options;
  }

  /** How a manifest names this file. */
  asInput(role: string): {
    role: string;
    path: string;
    sha256: string;
    bytes: number;
    rows: number;
  } {
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
    if (raw === "" || raw.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch (error) {
      throw this.#problem(`not valid JSON (${jsonProblem(error)})`, raw);
    }
    if (!isFields(value)) throw this.#problem("not a JSON object", raw);
    try {
      batch.push(this.#parse(value));
    } catch (error) {
      throw this.#problem(messageOf(error), raw);
    }
  }

  /** Pieces of text that each end at a line's end. */
  async *#lines(): AsyncGenerator<string, void, void> {
    let held: Buffer[] = [];
    let heldBytes = 0;
    for await (const chunk of this.#chunks()) {
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        yield this.#decode(
          held.length === 0
            ? chunk.subarray(0, end)
            : Buffer.concat([...held, chunk.subarray(0, end)]),
        );
        held = [];
        heldBytes = 0;
      }
      if (end < chunk.length) {
        held.push(Buffer.from(chunk.subarray(end)));
        heldBytes += chunk.length - end;
      }
      if (heldBytes > MAX_LINE_BYTES) throw this.#tooLong(held);
    }
    if (heldBytes > 0) yield this.#decode(Buffer.concat([...held, Buffer.from("\n")]));
  }

  async *#chunks(): AsyncGenerator<Buffer, void, void> {
    const file = await openFile(this.path);
    try {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
        if (bytesRead === 0) return;
        let chunk: Buffer = buffer.subarray(0, bytesRead);
        this.#hash.update(chunk);
        this.#options.onBytes?.(bytesRead);
        if (this.bytes === 0) chunk = withoutByteOrderMark(chunk);
        this.bytes += bytesRead;
        yield chunk;
      }
    } catch (error) {
      throw isSystemError(error) ? ioError(`read ${this.path}`, error, "data") : error;
    } finally {
      await file.close();
    }
  }

  /** Strings of one byte a character are smaller and faster, and most data is ASCII. */
  #decode(bytes: Buffer): string {
    if (isAscii(bytes)) return bytes.toString("latin1");
    if (isUtf8(bytes)) return bytes.toString("utf8");
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

  #problem(problem: string, raw: string): Error {
    return dataError(
      `${this.path}:${this.#line}: ${problem}`,
      `The line reads: ${visibleShort(raw.trim(), 60)}`,
    );
  }

  #tooLong(held: Buffer[]): Error {
    const start = held[0]?.subarray(0, 40).toString("latin1") ?? "";
    return dataError(
      `${this.path}:${this.#line + 1}: the line is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`,
      `Is it one JSON object per line? The line starts: ${visibleShort(start, 40)}`,
    );
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    if ((await file.stat()).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    return file;
  } catch (error) {
    await file?.close();
    throw ioError(`read ${path}`, error, "data");
  }
}

function withoutByteOrderMark(chunk: Buffer): Buffer {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk;
}

function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === "string";
}

/** V8 quotes the whole text in its message; the reader shows the line itself, shortened. */
function jsonProblem(error: unknown): string {
  return messageOf(error)
    .replace(/, ?"?[\s\S]*$/, "")
    .replace(/ \(line.*$/, "");
}
