/**
 * Runs a command as a process: handles output errors, user code that ends the process or throws
 * outside of a call, and the exit code. Only a finished command exits with 0.
 */

import { ioError, LockedRoomError } from "../core/errors.ts";
import { strayFailure, userCodeLoaded } from "../extensions/module.ts";
import { main, report } from "./main.ts";

export async function run(argv: readonly string[]): Promise<void> {
  let done = false;
  const listeners = process.listeners("exit");
  /** Exit listeners of user code must not change the exit code. */
  const leave = (code: number) => {
    process.removeAllListeners("exit");
    for (const listener of listeners) process.on("exit", listener);
    process.exit(code);
  };
  process.on("exit", () => {
    if (done) return;
    process.exitCode = report(endedEarly());
  });
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      done = true;
      leave(report(userCodeLoaded() ? strayFailure(error) : error));
    });
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return; // A reader that stops early, such as `head`, is not an error.
    done = true;
    leave(report(ioError("print", error)));
  });
  process.stderr.on("error", () => {}); // The work continues without stderr.
  const code = await main(argv);
  done = true;
  // Exit although user code may have left timers, but only after all output is written. Errors of
  // earlier writes arrive shortly after this callback.
  process.stdout.write("", () => setImmediate(() => leave(code)));
}

function endedEarly(): LockedRoomError {
  return new LockedRoomError("data", "the process ended before the command was finished", {
    hint: "A scorer or policy must not call process.exit or wait for a promise that never settles.",
  });
}
