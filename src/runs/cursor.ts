/** Takes rows one at a time from what is read in batches, without a promise for each row. */

import type { Rows } from "./rows.ts";

export class RowCursor<T> {
  readonly #batches: AsyncGenerator<T[], void, void>;
  #batch: readonly T[] = [];
  #index = 0;

  constructor(file: Pick<Rows<T>, "batches">) {
    this.#batches = file.batches();
  }

  /** The next row if it is at hand; undefined says to `read` on. */
  buffered(): T | undefined {
    return this.#batch[this.#index++];
  }

  /** The next row from the file; undefined at its end. */
  async read(): Promise<T | undefined> {
    const step = await this.#batches.next();
    this.#batch = step.done ? [] : step.value;
    this.#index = 1;
    return this.#batch[0];
  }

  /** Lets go of the file, read to its end or not. */
  async close(): Promise<void> {
    await this.#batches.return();
  }
}
