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
  readonly #buffers: Buffer[] = [Buffer.alloc(0), Buffer.alloc(0)];
  #writing: Promise<void> = Promise.resolve();

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

  /**
   * Writes what has been added, once it is worth a write. The write goes on while the next lines are
   * made; the next flush waits for it, and reports what went wrong with it.
   */
  async flush(atLeast = WORTH_A_WRITE): Promise<void> {
    if (this.#pendingLength < atLeast || this.#pending.length === 0) return;
    this.#pendingLength = 0;
    const bytes = this.#encode(`${this.#pending.join("\n")}\n`);
    this.#pending = [];
    this.#hash.update(bytes);
    await this.#settled();
    this.#writing = this.#file.writeFile(bytes);
    this.#writing.catch(() => {}); // Reported by whoever waits for it.
  }

  /** Two buffers are used in turn: a fresh one for each flush makes work for the collector. */
  #encode(text: string): Uint8Array {
    const largest = 3 * text.length; // UTF-8 takes no more for a unit of UTF-16.
    const [, idle = Buffer.alloc(0)] = this.#buffers.reverse();
    const room = largest > idle.length ? Buffer.allocUnsafe(2 * largest) : idle;
    this.#buffers[1] = room;
    return room.subarray(0, room.write(text));
  }

  async #settled(): Promise<void> {
    try {
      await this.#writing;
    } catch (error) {
      throw ioError(`write ${this.path}`, error);
    }
  }

  /**
   * Writes what is left and gives the SHA-256 of the whole. It is not forced to disk: the summary
   * holds the hash, so a file that a power cut shortened is noticed.
   */
  async end(): Promise<string> {
    await this.flush(0);
    await this.#settled();
    this.#writing = this.#file.close();
    await this.#settled();
    return this.#hash.digest("hex");
  }

  async abandon(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#file.close().catch(() => {});
  }
}
