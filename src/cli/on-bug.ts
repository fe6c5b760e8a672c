/** What a server's terminal shows of an internal error. */

import { LockedRoomError, messageOf } from "../core/errors.ts";
import { err, wrap } from "./terminal.ts";

export function onBug(error: unknown): void {
  const known = error instanceof LockedRoomError;
  const what = !known && error instanceof Error ? error.stack : messageOf(error);
  err(known ? wrap(`lockedroom: ${what}`) : `lockedroom: internal error: ${what}`);
}
