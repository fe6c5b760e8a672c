/** Judges levels by their evidence, one check after the other. */

import { availableParallelism } from "node:os";
import { LockedRoomError } from "../index.ts";
import { labelled } from "./budget.ts";
import { Gap, type Lack } from "./gap.ts";
import type { Check, Level, LevelId } from "./level.ts";
import type { Room } from "./room.ts";

export const CHECK_SCHEMA = "lockedroom.check@1";

export type CheckOutcome = { readonly id: string; readonly title: string } & (
  | { readonly holds: true; readonly seen: string }
  | { readonly holds: false; readonly lack: Lack; readonly next: string }
);

export interface LevelOutcome {
  readonly level: LevelId;
  readonly title: string;
  /** Nothing of the level is in the workspace yet. */
  readonly begun: boolean;
  readonly passed: boolean;
  readonly checks: readonly CheckOutcome[];
}

/** Runs a level's checks; `onCheck` hears of each as it ends. */
export async function checkLevel(
  room: Room,
  level: Level,
  onCheck: (outcome: CheckOutcome) => void = () => {},
): Promise<LevelOutcome> {
  const checks: CheckOutcome[] = [];
  const lanes = Math.min(4, availableParallelism());
  const started: Promise<CheckOutcome>[] = [];
  for (const [index] of level.checks.entries()) {
    // Most of the time is spent in other processes, so a few checks run ahead of the one in turn.
    for (const check of level.checks.slice(started.length, index + lanes)) {
      started.push(judge(room, check));
    }
    const outcome = (await started[index]) as CheckOutcome;
    checks.push(outcome);
    onCheck(outcome);
  }
  return {
    level: level.id,
    title: level.title,
    begun: true,
    passed: checks.every(({ holds }) => holds),
    checks,
  };
}

/** Whether there is anything to judge: a run or a commit under the level's name. */
export function hasBegun(room: Room, { id }: Level): boolean {
  const prefix = `l${id.replace(".", "_")}_`;
  return (
    labelled(room.commits).some(({ level, step }) => level === id && step !== "") ||
    room
      .runNames()
      .some((name) => name.startsWith(prefix) && !(id === "0" && name.startsWith("l0_5_")))
  );
}

/** The first check that fails, and none when the level is passed: the one thing to do now. */
export async function nextStep(
  room: Room,
  level: Level,
): Promise<(CheckOutcome & { holds: false }) | undefined> {
  for (const check of level.checks) {
    const outcome = await judge(room, check);
    if (!outcome.holds) return outcome;
  }
  return undefined;
}

async function judge(room: Room, { id, title, next, run }: Check): Promise<CheckOutcome> {
  try {
    return { id, title, holds: true, seen: await run(room) };
  } catch (error) {
    const lack = lackOf(error, title);
    return { id, title, holds: false, lack, next: lack.next ?? next };
  }
}

/** A run that cannot be opened is a gap like any other; only our own bugs go on. */
function lackOf(error: unknown, title: string): Lack {
  if (error instanceof Gap) return error.lack;
  if (!(error instanceof LockedRoomError)) throw error;
  return { expected: title, found: error.message, look: error.hint ?? "the path above" };
}
