/** Runs work one at a time, in the order of arrival. */

import { HttpError } from "./errors.ts";

const MAX_WAITING = 64;

const stopping = () => new HttpError(503, "the server is stopping", { code: "server_stopping" });

export class Queue {
  #last: Promise<unknown> = Promise.resolve();
  #stopping = false;
  readonly #pending = new Set<AbortController>();

  /**
   * Throws at once when too many are waiting or the server is stopping. `request` is aborted when the
   * server stops before the work is done.
   */
  add<T>(
    work: (signal: AbortSignal) => Promise<T>,
    request: AbortController = new AbortController(),
  ): Promise<T> {
    if (this.#stopping) throw stopping();
    if (this.#pending.size > MAX_WAITING) {
      throw new HttpError(429, `${MAX_WAITING} requests are waiting already; try again later`, {
        code: "queue_full",
        headers: { "retry-after": "1" },
      });
    }
    this.#pending.add(request);
    const run = () => work(request.signal);
    const done = this.#last.then(run).finally(() => this.#pending.delete(request));
    this.#last = done.catch(() => {});
    return done;
  }

  /** When everything added so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** Accepts nothing new, and aborts what is not done within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => {
      for (const request of this.#pending) request.abort(stopping());
    }, graceMs);
    await this.idle();
    clearTimeout(timer);
  }
}
