/**
 * Works on a few items at once and gives the results as they come. The first failure ends it, but
 * not at the expense of what is already paid for: whatever is in flight may still arrive.
 */

import { setMaxListeners } from "node:events";

/** How a piece of work hears that it should end. */
export interface Stop {
  /** Something failed: begin nothing more, neither a wait nor another try. */
  readonly soon: AbortSignal;
  /** Nobody waits any longer. */
  readonly now: AbortSignal;
}

export interface PoolOptions {
  readonly limit: number;
  /** How long to wait, after a failure, for what is in flight. */
  readonly graceMs: number;
}

export async function* pooled<In, Out>(
  items: Iterable<In>,
  { limit, graceMs }: PoolOptions,
  work: (item: In, stop: Stop) => Promise<Out>,
): AsyncGenerator<readonly [In, Out], void, void> {
  const [soon, now] = [new AbortController(), new AbortController()];
  for (const { signal } of [soon, now]) setMaxListeners(0, signal); // One for each piece of work.
  const source = items[Symbol.iterator]();
  const ended: (readonly [In, Out])[] = [];
  let flying = 0;
  let wake = () => {};
  let failure: { readonly error: unknown } | undefined;
  let grace: NodeJS.Timeout | undefined;

  /** At once, and not when its turn comes: nothing may be launched in between. */
  const fail = (error: unknown) => {
    if (failure) return;
    failure = { error };
    soon.abort();
    grace = setTimeout(() => now.abort(), graceMs);
  };
  const launch = (item: In) => {
    flying++;
    work(item, { soon: soon.signal, now: now.signal })
      .then((out) => void ended.push([item, out]), fail)
      .finally(() => {
        flying--;
        wake();
      });
  };

  try {
    for (;;) {
      while (!failure && flying < limit) {
        const next = source.next();
        if (next.done) break;
        launch(next.value);
      }
      const first = ended.shift();
      if (first === undefined) {
        if (flying === 0) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        yield first;
      }
    }
    if (failure) throw failure.error;
  } finally {
    clearTimeout(grace);
    soon.abort();
    now.abort();
  }
}
