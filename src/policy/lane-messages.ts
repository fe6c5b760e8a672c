/** What a lane in another thread is asked and answers. Without side effects: both threads import it. */

import { LockedRoomError, messageOf } from "../core/errors.ts";
import type { LaneMethod, LaneSetup } from "./lane.ts";
import type { Signals } from "./native-calls.ts";

/** What the thread of a lane begins with. */
export interface RemoteSetup {
  readonly setup: LaneSetup;
  readonly signals: Signals;
}

export interface LaneCall {
  readonly id: number;
  readonly method: LaneMethod;
  readonly args: readonly unknown[];
}

export type LaneAnswer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: SentError }
);

/** An error loses its class on the way to another thread. */
export interface SentError {
  readonly message: string;
  readonly stack?: string | undefined;
  readonly known?: Pick<LockedRoomError, "kind" | "hint"> | undefined;
}

export function sentError(error: unknown): SentError {
  const known =
    error instanceof LockedRoomError ? { kind: error.kind, hint: error.hint } : undefined;
  const stack = error instanceof Error ? error.stack : undefined;
  return { message: messageOf(error), stack, known };
}

export function receivedError({ message, stack, known }: SentError): Error {
  if (known) {
    const { kind, hint } = known;
    return new LockedRoomError(kind, message, hint === undefined ? {} : { hint });
  }
  return Object.assign(new Error(message), { stack });
}

/** Arrays that can be handed over without a copy. */
export function buffersOf(value: unknown): ArrayBuffer[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  const arrays = Object.values(value).filter((item) => ArrayBuffer.isView(item));
  return arrays.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [],
  );
}
