/**
 * What surrounds a command: output that cannot be written, a user's file that ends the process or
 * fails on the side, and the way out. Nothing but a finished command may look like success.
 */

import { ioError, LockedRoomError } from "../core/errors.ts";
import { strayFailure, userCodeLoaded } from "../extensions/module.ts";
import { main, report } from "./main.ts";

export async function run(argv: readonly string[]): Promise<void> {
  let done = false;
  const listeners = process.listeners("exit");
  /** A user's file may listen for the end as well, and must not have the last word on the code. */
  const leave = (code: number) => {
    process.removeAllListeners("exit");
    for (const listener of listeners) process.on("exit", listener);
    process.exit(code);
  };
  process.on("exit", () => {
    if (done) return;
    process.exitCode = report(endedFromInside());
  });
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      done = true;
      leave(report(userCodeLoaded() ? strayFailure(error) : error));
    });
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return; // A reader that has seen enough, such as `head`, is no failure.
    done = true;
    leave(report(ioError("print", error)));
  });
  process.stderr.on("error", () => {}); // Nobody hears it, and the work goes on.
  const code = await main(argv);
  done = true;
  // A timer that a user's file left behind must not keep the process; what was printed must be out.
  // Errors of earlier writes arrive a moment after this one's answer.
  process.stdout.write("", () => setImmediate(() => leave(code)));
}

function endedFromInside(): LockedRoomError {
  return new LockedRoomError("data", "the program was ended from inside before it was done", {
    hint: "A scorer or policy must not call process.exit, or wait for something that never comes.",
  });
}
