/**
 * Streams the lines of a file that may be damaged: a line that is not UTF-8 or too long is a fault of
 * that line, and the lines after it are read. For files that are checked; `JsonlFile` reads data.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { ioError } from "../core/errors.ts";
import { refuseFolder } from "./folder-kind.ts";
import { MAX_LINE_BYTES, type ReadOptions } from "./jsonl.ts";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export type LineFault = "not_utf8" | "line_too_long";

/** Whole lines, each with its newline; or one line that has no text. */
export type RawPiece =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly fault: LineFault };

/** The counts are complete once `pieces()` has ended. */
export class RawLines {
  readonly path: string;
  readonly #onBytes: ReadOptions["onBytes"];
  readonly #hash = createHash("sha256");
  bytes = 0;
  lines = 0;
  sha256 = "";
  byteOrderMark = false;

  constructor(path: string, { onBytes }: Pick<ReadOptions, "onBytes"> = {}) {
    this.path = path;
    this.#onBytes = onBytes;
  }

  /** Arrays of pieces, one for each part of the file that was read. */
  async *pieces(): AsyncGenerator<RawPiece[], void, void> {
    const file = await openNamed(this.path);
    try {
      let buffer: Buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      let kept = 0;
      let skipping = false;
      for (;;) {
        const count = await this.#read(file, buffer, kept);
        if (count === 0) break;
        const filled = kept + count;
        let start = 0;
        if (skipping) {
          const end = buffer.subarray(0, filled).indexOf(NEWLINE);
          skipping = end < 0;
          start = skipping ? filled : end + 1;
        }
        const end = Math.max(start, buffer.subarray(0, filled).lastIndexOf(NEWLINE) + 1);
        if (end > start) yield this.#decode(buffer.subarray(start, end));
        buffer.copyWithin(0, end, filled);
        kept = filled - end;
        if (kept > MAX_LINE_BYTES) {
          yield [this.#fault("line_too_long")];
          [kept, skipping] = [0, true];
        } else if (kept === buffer.length) {
          const larger = Math.min(2 * kept, MAX_LINE_BYTES + CHUNK_BYTES);
          buffer = Buffer.concat([buffer], larger);
        }
      }
      if (kept > 0) yield this.#decode(Buffer.concat([buffer.subarray(0, kept), ENDING]));
    } finally {
      await file.close();
    }
    this.sha256 = this.#hash.digest("hex");
  }

  async #read(file: FileHandle, buffer: Buffer, from: number): Promise<number> {
    try {
      const { bytesRead } = await file.read(buffer, from, buffer.length - from, null);
      this.#hash.update(buffer.subarray(from, from + bytesRead));
      this.bytes += bytesRead;
      this.#onBytes?.(bytesRead);
      return bytesRead;
    } catch (error) {
      throw ioError(`read ${this.path}`, error, "data");
    }
  }

  #decode(given: Buffer): RawPiece[] {
    const bytes = this.lines === 0 ? this.#withoutMark(given) : given;
    if (isAscii(bytes)) return [this.#piece(bytes.toString("latin1"))];
    if (isUtf8(bytes)) return [this.#piece(bytes.toString("utf8"))];
    const pieces: RawPiece[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, start) + 1;
      const line = bytes.subarray(start, end);
      pieces.push(isUtf8(line) ? this.#piece(line.toString("utf8")) : this.#fault("not_utf8"));
      start = end;
    }
    return pieces;
  }

  #withoutMark(bytes: Buffer): Buffer {
    this.byteOrderMark = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
    return this.byteOrderMark ? bytes.subarray(3) : bytes;
  }

  #piece(text: string): RawPiece {
    const piece = { line: this.lines + 1, text };
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.lines++;
    return piece;
  }

  #fault(fault: LineFault): RawPiece {
    return { line: ++this.lines, fault };
  }
}

const ENDING = Buffer.from("\n");

async function openNamed(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    if (!(await file.stat()).isDirectory()) return file;
    await refuseFolder(path);
    throw Object.assign(new Error(), { code: "EISDIR" });
  } catch (error) {
    await file?.close();
    throw ioError(`read ${path}`, error, "data");
  }
}
