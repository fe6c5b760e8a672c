/** Judges levels by their evidence, one check after the other. */

import { availableParallelism } from "node:os";
import { LockedRoomError, messageOf } from "../core/index.ts";
import { currentStep, labelled } from "./budget.ts";
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
  /** False when nothing of the level is in the workspace yet. */
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
  for await (const outcome of outcomes(room, level)) {
    checks.push(outcome);
    onCheck(outcome);
  }
  const passed = checks.every(({ holds }) => holds);
  return { level: level.id, title: level.title, begun: true, passed, checks };
}

/** A level of which nothing is in the workspace yet. */
export function notBegun({ id, title }: Level): LevelOutcome {
  return { level: id, title, begun: false, passed: false, checks: [] };
}

/** Most of the time is spent in other processes, so a few checks run ahead of the one in turn. */
async function* outcomes(room: Room, level: Level): AsyncGenerator<CheckOutcome> {
  const concurrency = Math.min(4, availableParallelism());
  const started: Promise<CheckOutcome>[] = [];
  for (const [index] of level.checks.entries()) {
    for (const check of level.checks.slice(started.length, index + concurrency)) {
      started.push(judge(room, level, check));
    }
    yield (await started[index]) as CheckOutcome;
  }
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
  for await (const outcome of outcomes(room, level)) if (!outcome.holds) return outcome;
  return undefined;
}

async function judge(
  room: Room,
  level: Level,
  { id, title, next, run }: Check,
): Promise<CheckOutcome> {
  try {
    return { id, title, holds: true, seen: await run(room) };
  } catch (error) {
    const { commit, ...lack } = lackOf(error, title);
    const due = `git add -A && git commit -m "L${level.id} ${currentStep(room, level)}"`;
    return {
      id,
      title,
      holds: false,
      lack,
      next: replacing(room, commit ? due : (lack.next ?? next)),
    };
  }
}

/** Whatever breaks a check is a gap like any other: one bad file must not hide the other results. */
function lackOf(error: unknown, title: string): Lack {
  if (error instanceof Gap) return error.lack;
  if (error instanceof LockedRoomError) {
    return { expected: title, found: error.message, look: error.hint ?? "the path above" };
  }
  return {
    expected: title,
    found: `this check broke, which is our mistake: ${messageOf(error)}`,
    look: "what is unusual in the files it reads; please report it",
  };
}

/** A command whose run exists already has to replace it. */
function replacing(room: Room, next: string): string {
  return next.replace(/--outdir (runs\/[\w.]+)(?! --force)/g, (flag, run: string) =>
    room.has(run) ? `${flag} --force` : flag,
  );
}
