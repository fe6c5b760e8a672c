/** A file of lines being written under a temporary name, fingerprinted on the way. */

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { ioError } from "../core/errors.ts";

export class LineFile {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  #pending: string[] = [];

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async create(path: string): Promise<LineFile> {
    return new LineFile(path, await open(path, "w"));
  }

  /** Adds one line; `flush` now and then so that lines do not pile up. */
  add(line: string): void {
    this.#pending.push(line);
  }

  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(`${this.#pending.join("\n")}\n`);
    this.#pending = [];
    this.#hash.update(bytes);
    await this.#writing(() => this.#file.writeFile(bytes));
  }

  /** Writes what is left, makes it durable, and gives the SHA-256 of the whole. */
  async end(): Promise<string> {
    await this.flush();
    await this.#writing(() => this.#file.sync());
    await this.#file.close();
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
