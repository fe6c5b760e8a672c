/** Ctrl-C in the middle of work that can be continued. */

import { err, hint } from "./terminal.ts";

/** Says how to go on, then lets the signal end the process. The listener is to be removed at the end. */
export function onInterrupt(stop: () => void, how: string): () => void {
  const listener = () => {
    stop();
    err("lockedroom: interrupted");
    hint(how);
    process.kill(process.pid, "SIGINT");
  };
  process.once("SIGINT", listener);
  return listener;
}
