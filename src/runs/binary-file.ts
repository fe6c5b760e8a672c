/** A file of bytes that is read in places, straight to where they belong. */

import type { FileHandle } from "node:fs/promises";
import { ioError } from "../core/errors.ts";
import { openRegular } from "./regular-file.ts";

export class BinaryFile {
  readonly path: string;
  readonly size: number;
  readonly #handle: FileHandle;

  private constructor(path: string, size: number, handle: FileHandle) {
    this.path = path;
    this.size = size;
    this.#handle = handle;
  }

  static async open(path: string): Promise<BinaryFile> {
    let handle: FileHandle | undefined;
    try {
      handle = await openRegular(path);
      return new BinaryFile(path, (await handle.stat()).size, handle);
    } catch (error) {
      await handle?.close();
      throw ioError(`read ${path}`, error, "data");
    }
  }

  /** Fills `into` with the bytes at `at`; answers how many there were. */
  async read(into: Uint8Array, at: number): Promise<number> {
    try {
      for (let done = 0; ; ) {
        const { bytesRead } = await this.#handle.read(into, done, into.length - done, at + done);
        done += bytesRead;
        if (bytesRead === 0 || done === into.length) return done;
      }
    } catch (error) {
      throw ioError(`read ${this.path}`, error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
