/**
 * Node ends the process with an abort when it stops a thread inside a call of the runtime. So a thread
 * says when it is inside one, and another can ask it to make no more.
 */

export type Signals = Int32Array<SharedArrayBuffer>;

const STOP = 0;
const INSIDE = 1;

/** The longest wait for a call to end. */
const PATIENCE_MS = 5000;

export function makeSignals(): Signals {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/**
 * In the thread that makes the calls. The runtime's binding makes every call in a callback of
 * `setImmediate`, so that is what is watched.
 */
export function watchNativeCalls(signals: Signals): void {
  const { setImmediate: original } = globalThis;
  const watched = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    original(() => {
      Atomics.store(signals, INSIDE, 1);
      if (Atomics.load(signals, STOP) === 1) {
        leave(signals);
        Atomics.wait(signals, STOP, 1);
      }
      try {
        callback(...args);
      } finally {
        leave(signals);
      }
    });
  globalThis.setImmediate = watched as typeof setImmediate;
}

function leave(signals: Signals): void {
  Atomics.store(signals, INSIDE, 0);
  Atomics.notify(signals, INSIDE);
}

/** In another thread: returns when the thread is outside of a call, and it stays outside. */
export function stopNativeCalls(signals: Signals): void {
  Atomics.store(signals, STOP, 1);
  Atomics.wait(signals, INSIDE, 1, PATIENCE_MS);
}
