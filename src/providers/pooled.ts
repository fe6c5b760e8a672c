/**
 * Processes items concurrently and yields the results as they arrive. The first failure ends it, but
 * requests in flight may still finish, since they are already paid for.
 */

import { setMaxListeners } from "node:events";

/** Signals that tell a task to end. */
export interface Stop {
  /** Something failed: start no wait and no retry. */
  readonly soon: AbortSignal;
  /** The grace period is over. */
  readonly now: AbortSignal;
}

export interface PoolOptions {
  readonly limit: number;
  /** Grace period for tasks in flight after a failure. */
  readonly graceMs: number;
}

export async function* pooled<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  { limit, graceMs }: PoolOptions,
  work: (item: In, stop: Stop) => Promise<Out>,
): AsyncGenerator<readonly [In, Out], void, void> {
  const [soon, now] = [new AbortController(), new AbortController()];
  for (const { signal } of [soon, now]) setMaxListeners(0, signal); // One for each piece of work.
  const source =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const ended: (readonly [In, Out])[] = [];
  let flying = 0;
  let [reading, exhausted] = [false, false];
  let wake = () => {};
  let failure: { readonly error: unknown } | undefined;
  let grace: NodeJS.Timeout | undefined;

  /** Immediately, so that nothing is started in between. */
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

  const read = async () => {
    reading = true;
    try {
      const next = await source.next();
      if (next.done) exhausted = true;
      else if (!failure) launch(next.value);
    } catch (error) {
      fail(error);
    } finally {
      reading = false;
      wake();
    }
  };

  try {
    for (;;) {
      if (!failure && !exhausted && !reading && flying < limit) void read();
      const first = ended.shift();
      if (first === undefined) {
        if (flying === 0 && !reading) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        yield first;
      }
    }
    if (failure) throw failure.error;
  } finally {
    failure ??= { error: undefined }; // What is aborted now fails late, and must start no timer.
    clearTimeout(grace);
    soon.abort();
    now.abort();
    await source.return?.();
  }
}

/** Results that wait for an earlier one, for each item under way. */
const AHEAD = 4;

/** The same in the order of the items; no more than a few times `limit` of them are held. */
export async function* pooledInOrder<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  options: PoolOptions,
  work: (item: In, stop: Stop) => Promise<Out>,
): AsyncGenerator<readonly [In, Out], void, void> {
  const most = AHEAD * options.limit;
  const early = new Map<number, readonly [In, Out]>();
  const waiting = new Map<number, () => void>();
  let next = 0;

  const turn = (index: number, { soon }: Stop) =>
    new Promise<void>((resolve, reject) => {
      if (index < next + most) return resolve();
      const end = () => reject(soon.reason);
      soon.addEventListener("abort", end, { once: true });
      waiting.set(index, () => {
        soon.removeEventListener("abort", end);
        waiting.delete(index);
        resolve();
      });
    });
  const numbered = pooled(withIndex(items), options, async ([index, item], stop) => {
    await turn(index, stop);
    return work(item, stop);
  });
  for await (const [[index, item], out] of numbered) {
    early.set(index, [item, out]);
    for (let found = early.get(next); found; found = early.get(next)) {
      early.delete(next++);
      waiting.get(next + most - 1)?.();
      yield found;
    }
  }
}

async function* withIndex<T>(
  items: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<readonly [number, T], void, void> {
  let index = 0;
  for await (const item of items) yield [index++, item];
}
