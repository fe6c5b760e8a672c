/** A file that is read while it grows line by line, and continued where an earlier process stopped. */

import { type FileHandle, open, rm, truncate } from "node:fs/promises";
import { ioError } from "../core/errors.ts";

const NEWLINE = 10;

export class GrowingFile {
  readonly path: string;
  bytes: number;
  #handle: FileHandle | undefined;

  private constructor(path: string, handle: FileHandle, bytes: number) {
    this.path = path;
    this.#handle = handle;
    this.bytes = bytes;
  }

  /** Keeps so many bytes of what is there; a file that starts anew follows no link. */
  static async open(path: string, keep: number): Promise<GrowingFile> {
    if (keep === 0) await rm(path, { force: true });
    const handle = await open(path, keep === 0 ? "ax" : "a");
    if (keep > 0) await truncate(path, keep);
    return new GrowingFile(path, handle, keep);
  }

  async add(line: string): Promise<void> {
    const bytes = Buffer.from(`${line}\n`);
    await this.#handle?.appendFile(bytes).catch((error) => {
      throw ioError(`write ${this.path}`, error);
    });
    this.bytes += bytes.length;
  }

  async close({ durable = false } = {}): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    if (durable) await handle?.sync();
    await handle?.close();
  }
}

/** Where the last whole line of a file of `size` bytes ends; 0 when there is none. */
export async function lastLineEnd(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}
