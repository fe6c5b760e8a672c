/** Limits how many requests a second are taken, and how many are worked on at once. */

import { HttpError } from "./errors.ts";

const MAX_OPEN = 64;

/** As many at once as the rate allows in a second, then as fast as they are replaced. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #since: number;
  #open = 0;

  /** `now` in milliseconds. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = Math.max(1, perSecond);
    this.#since = now();
  }

  /** Does the work, or refuses it with a 429 that says when to come again. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#take();
    this.#open++;
    try {
      return await work();
    } finally {
      this.#open--;
    }
  }

  get open(): number {
    return this.#open;
  }

  #take(): void {
    if (this.#open >= MAX_OPEN) throw tooMany(`${MAX_OPEN} requests are open already`, 1);
    const now = this.#now();
    const fresh = ((now - this.#since) / 1000) * this.#perSecond;
    this.#left = Math.min(Math.max(1, this.#perSecond), this.#left + fresh);
    this.#since = now;
    if (this.#left < 1)
      throw tooMany(
        `more than ${this.#perSecond} requests a second`,
        (1 - this.#left) / this.#perSecond,
      );
    this.#left--;
  }
}

function tooMany(what: string, seconds: number): HttpError {
  const after = Math.max(1, Math.ceil(seconds));
  return new HttpError(429, `${what}; try again in ${after} s`, {
    code: "too_many_requests",
    headers: { "retry-after": String(after) },
  });
}
