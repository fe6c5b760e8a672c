/** Terminates a call that does not return in time. */

import vm from "node:vm";

const SLOT = Symbol.for("lockedroom.call");
const CALL = new vm.Script("globalThis[Symbol.for('lockedroom.call')]()");

/**
 * Runs a call and returns whether it finished in time; its errors are rethrown. V8's termination
 * interrupts any JavaScript, loops and backtracking regular expressions included.
 */
export function withinLimit(call: () => void, limitMs: number): boolean {
  const globals = globalThis as unknown as Record<symbol, unknown>;
  globals[SLOT] = call;
  try {
    CALL.runInThisContext({ timeout: limitMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      return false;
    throw error;
  } finally {
    delete globals[SLOT];
  }
}
