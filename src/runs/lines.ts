/** A file of lines being written under a temporary name, fingerprinted on the way. */

import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { ioError } from "../core/errors.ts";

const WORTH_A_WRITE = 128 * 1024;

/** Makes a file where there was none; whatever was in the way goes, and no link is followed. */
export async function openNew(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, "wx");
}

export class LineFile {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  #pending: string[] = [];
  #pendingLength = 0;
  #scratch = Buffer.allocUnsafe(64 * 1024);

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async create(path: string): Promise<LineFile> {
    return new LineFile(path, await openNew(path));
  }

  /** Adds one line; `flush` now and then so that lines do not pile up. */
  add(line: string): void {
    this.#pending.push(line);
    this.#pendingLength += line.length;
  }

  /** Writes what has been added, once it is worth a write. */
  async flush(atLeast = WORTH_A_WRITE): Promise<void> {
    if (this.#pendingLength < atLeast || this.#pending.length === 0) return;
    this.#pendingLength = 0;
    const bytes = this.#encode(`${this.#pending.join("\n")}\n`);
    this.#pending = [];
    this.#hash.update(bytes);
    await this.#writing(() => this.#file.writeFile(bytes));
  }

  /** One buffer is used over and over: a fresh one for each flush makes work for the collector. */
  #encode(text: string): Uint8Array {
    const size = Buffer.byteLength(text);
    if (size > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(2 * size);
    this.#scratch.write(text);
    return this.#scratch.subarray(0, size);
  }

  /**
   * Writes what is left and gives the SHA-256 of the whole. It is not forced to disk: the summary
   * holds the hash, so a file that a power cut shortened is noticed.
   */
  async end(): Promise<string> {
    await this.flush(0);
    await this.#writing(() => this.#file.close());
    return this.#hash.digest("hex");
  }

  async #writing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw ioError(`write ${this.path}`, error);
    }
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {});
  }
}
