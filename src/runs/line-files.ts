/**
 * Files of lines being written: `LineFile` in large pieces and with its hash, `GrowingFile` line by
 * line so that it can be read meanwhile and continued later.
 */

import { createHash } from "node:crypto";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { dataError, ioError } from "../core/errors.ts";
import { openRegular, openToAppend } from "./regular-file.ts";

const WORTH_A_WRITE = 128 * 1024;
const NEWLINE = 10;

/** Makes a file where there was none; whatever was in the way goes, and no link is followed. @internal */
export async function openNew(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, "wx");
}

/** Writes a whole file where there was none; `durable` waits until the disk has it. */
export async function writeNew(
  path: string,
  content: string | Uint8Array,
  durable: boolean,
): Promise<void> {
  const handle = await openNew(path);
  try {
    await handle.writeFile(content);
    if (durable) await handle.sync();
  } finally {
    await handle.close();
  }
}

export class LineFile {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  /** One is filled while the other is written; fresh ones would make work for the collector. */
  #filling: Buffer = Buffer.allocUnsafe(2 * WORTH_A_WRITE);
  #resting: Buffer = Buffer.allocUnsafe(2 * WORTH_A_WRITE);
  #used = 0;
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
    const largest = this.#used + 3 * line.length + 1; // UTF-8 takes no more for a unit of UTF-16.
    if (largest > this.#filling.length) this.#filling = Buffer.concat([this.#filling], 2 * largest);
    this.#used += this.#filling.write(line, this.#used);
    this.#filling[this.#used++] = NEWLINE;
  }

  /**
   * Writes what has been added, once it is worth a write. The write goes on while the next lines are
   * made; the next flush waits for it, and reports what went wrong with it.
   */
  async flush(atLeast = WORTH_A_WRITE): Promise<void> {
    if (this.#used < atLeast || this.#used === 0) return;
    const bytes = this.#filling.subarray(0, this.#used);
    this.#hash.update(bytes);
    await this.#settled();
    this.#writing = this.#file.writeFile(bytes);
    this.#writing.catch(() => {}); // Reported where it is awaited.
    [this.#filling, this.#resting, this.#used] = [this.#resting, this.#filling, 0];
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

export class GrowingFile {
  readonly path: string;
  bytes: number;
  #handle: FileHandle | undefined;

  private constructor(path: string, handle: FileHandle, bytes: number) {
    this.path = path;
    this.#handle = handle;
    this.bytes = bytes;
  }

  /** Keeps so many bytes of what is there; no link is followed. */
  static async open(path: string, keep: number): Promise<GrowingFile> {
    await requireBytes(path, keep);
    if (keep === 0) await rm(path, { force: true });
    const handle = await (keep === 0 ? open(path, "ax") : openToAppend(path));
    await handle.truncate(keep);
    return new GrowingFile(path, handle, keep);
  }

  async add(line: string): Promise<void> {
    const bytes = Buffer.from(`${line}\n`);
    await this.#handle?.appendFile(bytes).catch((error) => {
      throw ioError(`write ${this.path}`, error);
    });
    this.bytes += bytes.length;
  }

  /** Waits until the disk has what was added. */
  async sync(): Promise<void> {
    await this.#handle?.sync().catch((error) => {
      throw ioError(`write ${this.path}`, error);
    });
  }

  async close({ durable = false } = {}): Promise<void> {
    if (durable) await this.sync();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** Refuses a file with fewer bytes than are to be kept: cutting it would fill it with zeros. */
export async function requireBytes(path: string, keep: number): Promise<void> {
  if (keep === 0) return;
  const size = await stat(path).then(
    (found) => (found.isFile() ? found.size : 0),
    () => 0,
  );
  if (size >= keep) return;
  throw dataError(
    `${path} is shorter than the saved state expects (${size} bytes, not ${keep})`,
    "Start over with --force.",
  );
}

/** Where the last whole line of a file of `size` bytes ends; 0 when there is none. @internal */
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

/** Opens a file for reading; undefined where there is none. @internal */
export async function openIfThere(file: string): Promise<FileHandle | undefined> {
  return openRegular(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw ioError(`read ${file}`, error, "data");
  });
}
