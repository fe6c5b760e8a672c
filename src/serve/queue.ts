/** One piece of work at a time, in the order it came: there is one decoder. */

import { ApiError } from "./errors.ts";

const MOST_WAITING = 64;

export class Queue {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** Throws at once when too many wait already. */
  add<T>(work: () => Promise<T>): Promise<T> {
    if (this.#length > MOST_WAITING) {
      throw new ApiError(429, `${MOST_WAITING} requests are waiting already; try again later`, {
        code: "queue_full",
        headers: { "retry-after": "1" },
      });
    }
    this.#length++;
    const done = this.#last.then(work).finally(() => this.#length--);
    this.#last = done.catch(() => {});
    return done;
  }

  /** When all that was added so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
