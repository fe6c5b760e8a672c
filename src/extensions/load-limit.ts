/**
 * A limit on the time that a user's file takes to load. A loop before the first `await` is ended by
 * V8, a promise that never settles by a timer. A loop later on blocks this thread: another thread
 * then makes it call `endHungLoad` in the middle of the loop, which can only end the process. (V8's
 * termination there breaks Node's bookkeeping of asynchronous calls.) In a thread of a pool it is up
 * to its owner to end the thread.
 */

import { isMainThread, Worker } from "node:worker_threads";
import { LockedRoomError } from "../core/errors.ts";
import { asHarness } from "./watch.ts";

export const LOAD_LIMIT_MS = 10_000;
/** The blocked thread may still end on its own: its timer comes first. */
const GRACE_MS = 250;

const SLOT = Symbol.for("lockedroom.hung_load");
const WATCHDOG = `
  const { workerData } = require("node:worker_threads");
  const { Session } = require("node:inspector");
  setTimeout(() => {
    const session = new Session();
    session.connectToMainThread();
    const expression = "globalThis[Symbol.for('lockedroom.hung_load')]?.()";
    session.post("Runtime.evaluate", { expression });
  }, workerData);
`;

let endHungLoad: ((error: LockedRoomError) => void) | undefined;

/** What to do when a file blocks the main thread while it loads; it must end the process. */
export function onHungLoad(end: (error: LockedRoomError) => void): void {
  endHungLoad = end;
}

/** A file that did not load in time. */
export class LoadTimeout extends LockedRoomError {
  constructor(what: string, file: string, limitMs: number) {
    super("data", `the ${what} ${file} did not load within ${limitMs / 1000} s`, {
      hint: "Look for a loop or an `await` outside of its functions that never ends.",
    });
  }
}

/** Waits for `load`, which gives the promise of a loaded file, as long as the limit allows. */
export async function withinLoadLimit<T>(
  late: LoadTimeout,
  limitMs: number,
  load: () => Promise<T>,
): Promise<T> {
  const stopWatchdog = isMainThread && endHungLoad ? startWatchdog(late, limitMs) : undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late), limitMs);
    });
    return await Promise.race([load(), limit]);
  } finally {
    clearTimeout(timer);
    stopWatchdog?.();
  }
}

function startWatchdog(late: LoadTimeout, limitMs: number): () => void {
  const globals = globalThis as unknown as Record<symbol, unknown>;
  globals[SLOT] = () => asHarness(() => endHungLoad?.(late));
  const thread = new Worker(WATCHDOG, { eval: true, workerData: limitMs + GRACE_MS });
  thread.unref();
  return () => {
    delete globals[SLOT];
    void thread.terminate();
  };
}
