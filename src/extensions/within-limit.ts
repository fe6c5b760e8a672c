/** A limit on the time of one synchronous call of user code. */

import vm from "node:vm";
import { stillWatching } from "./watch.ts";

const SLOT = Symbol.for("lockedroom.call");
/** The slot is emptied first, so that the call cannot find itself there and run again inside itself. */
const CALL = new vm.Script(`{
  const call = globalThis[Symbol.for("lockedroom.call")];
  delete globalThis[Symbol.for("lockedroom.call")];
  call();
}`);

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
    if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw error;
    stillWatching();
    return false;
  } finally {
    delete globals[SLOT];
  }
}
