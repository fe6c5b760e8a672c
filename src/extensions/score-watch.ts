/**
 * Notices user code that never gives control back after an `await`, such as a loop over promises that
 * are settled: no timer of the same thread can end it. Rows and turns of the event loop are counted
 * in shared memory, and another thread looks at the count. A thread of a pool is ended by its owner.
 * On the main thread a function is called in the middle of the loop, and ends the process; only the
 * command line has one. Where the harness itself is at work, it goes on.
 */

import { isMainThread, Worker } from "node:worker_threads";
import { LockedRoomError } from "../core/errors.ts";
import { asHarness, currentScope, type Sight } from "./watch.ts";

/** How often a thread shows that it has control, and how often another looks. */
const TICK_MS = 200;
/** What a good scorer may need on a busy machine beyond its limit. */
const GRACE_MS = 5000;

/** So many looks without progress are too many. They are counted, as a suspended machine has none. */
function looksFor(limitMs: number): number {
  return Math.ceil((limitMs + GRACE_MS) / TICK_MS);
}

/** A scorer that no timer can end. */
export class HungScorer extends LockedRoomError {
  constructor(shown: string, limitMs: number) {
    const seconds = Math.round((limitMs + GRACE_MS) / 100) / 10;
    super("data", `the scorer ${shown} never gave control back: it ran for ${seconds} s`, {
      hint: "Look for a loop after an `await`, or over promises, that never ends.",
    });
  }
}

let count = new Int32Array(new SharedArrayBuffer(4));

/** A row was finished, or the event loop turned. */
export function madeProgress(): void {
  count[0] = ((count[0] as number) + 1) | 0;
}

/** In a thread of a pool: from now on progress is counted in memory of the owner. */
export function countProgressIn(memory: SharedArrayBuffer): void {
  count = new Int32Array(memory);
  countTurns();
}

function countTurns(): void {
  setInterval(madeProgress, TICK_MS).unref();
}

/** The owner's side: `busy` says whether the thread has work, `end` is called once. */
export function watchThread(
  limitMs: number,
  busy: () => boolean,
  end: () => void,
): { readonly memory: SharedArrayBuffer; stop(): void } {
  const memory = new SharedArrayBuffer(4);
  const seen = new Int32Array(memory);
  let last = 0;
  let looks = 0;
  const timer = setInterval(() => {
    const now = Atomics.load(seen, 0);
    looks = busy() && now === last ? looks + 1 : 0;
    last = now;
    if (looks < looksFor(limitMs)) return;
    clearInterval(timer);
    end();
  }, TICK_MS).unref();
  return { memory, stop: () => clearInterval(timer) };
}

const SLOT = Symbol.for("lockedroom.hung_score");
/** `needed[0]` is the number of looks, which a scorer with a longer limit raises. */
const WATCHDOG = `
  const { workerData: { count, needed, tickMs } } = require("node:worker_threads");
  const { Session } = require("node:inspector");
  let last = 0, looks = 0, session;
  setInterval(() => {
    const now = Atomics.load(count, 0);
    looks = now === last ? looks + 1 : 0;
    last = now;
    if (looks < Atomics.load(needed, 0)) return;
    looks = 0;
    session?.disconnect();
    session = new Session();
    session.connectToMainThread();
    const expression = "globalThis[Symbol.for('lockedroom.hung_score')]?.()";
    session.post("Runtime.evaluate", { expression }, () => {
      session?.disconnect();
      session = undefined;
    });
  }, tickMs);
`;

let endHungScore: ((error: LockedRoomError) => void) | undefined;
const needed = new Int32Array(new SharedArrayBuffer(4));
/** The scorers by what they have read, which everything that they run carries with it. */
const scorers = new WeakMap<Sight, { readonly shown: string; readonly limitMs: number }>();

/** What to do when a scorer blocks the main thread; it must end the process. */
export function onHungScore(end: (error: LockedRoomError) => void): void {
  endHungScore = end;
}

/** Watches what a scorer runs in this thread, until the process ends. */
export function watchScorer(sight: Sight, shown: string, limitMs: number): void {
  if (!isMainThread || !endHungScore) return;
  scorers.set(sight, { shown, limitMs });
  const first = needed[0] === 0;
  needed[0] = Math.max(needed[0] as number, looksFor(limitMs));
  if (first) asHarness(startWatchdog);
}

function startWatchdog(): void {
  countTurns();
  (globalThis as unknown as Record<symbol, unknown>)[SLOT] = () => {
    const sight = currentScope()?.sight;
    const hung = sight && scorers.get(sight);
    if (hung) asHarness(() => endHungScore?.(new HungScorer(hung.shown, hung.limitMs)));
  };
  const workerData = { count, needed, tickMs: TICK_MS };
  new Worker(WATCHDOG, { eval: true, workerData }).unref();
}
