/** The levels of the track, and how their checks are run. */

import { availableParallelism } from "node:os";
import { LockedRoomError, messageOf } from "../core/index.ts";
import { type CheckContext, CheckFailure, type Failure } from "./check-context.ts";
import { currentStep, isCommitCheck, labelled, withGitChecks } from "./git-checks.ts";
import { type Check, commitCommand, type Level, type LevelId } from "./level.ts";
import { LEVEL_0_5 } from "./levels/level-0.5.ts";
import { LEVEL_0 } from "./levels/level-0.ts";
import { LEVEL_1 } from "./levels/level-1.ts";
import { LEVEL_2 } from "./levels/level-2.ts";
import { LEVEL_3 } from "./levels/level-3.ts";
import { LEVEL_4 } from "./levels/level-4.ts";
import { LEVEL_5 } from "./levels/level-5.ts";
import { LEVEL_6 } from "./levels/level-6.ts";
import { LEVEL_7 } from "./levels/level-7.ts";

/** The levels of the track, in order. */
export const LEVELS: readonly Level[] = [
  LEVEL_0,
  LEVEL_0_5,
  LEVEL_1,
  LEVEL_2,
  LEVEL_3,
  LEVEL_4,
  LEVEL_5,
  LEVEL_6,
].map(withGitChecks);

/** Levels beside the track: it is passed without them. */
export const EXTRA_LEVELS: readonly Level[] = [withGitChecks(LEVEL_7)];

export function levelOf(id: LevelId): Level {
  return [...LEVELS, ...EXTRA_LEVELS].find((level) => level.id === id) as Level;
}

export const CHECK_SCHEMA = "lockedroom.check@1";

export type CheckOutcome = { readonly id: string; readonly title: string } & (
  | { readonly passed: true; readonly evidence: string }
  | { readonly passed: false; readonly failure: Failure; readonly next: string }
);

export interface LevelOutcome {
  readonly level: LevelId;
  readonly title: string;
  /** False when nothing of the level is in the workspace yet. */
  readonly started: boolean;
  readonly passed: boolean;
  readonly checks: readonly CheckOutcome[];
}

/** Runs a level's checks; `onCheck` is called as each ends. */
export async function checkLevel(
  context: CheckContext,
  level: Level,
  onCheck: (outcome: CheckOutcome) => void = () => {},
): Promise<LevelOutcome> {
  const checks: CheckOutcome[] = [];
  for await (const outcome of outcomes(context, level)) {
    checks.push(outcome);
    onCheck(outcome);
  }
  const passed = checks.every((check) => check.passed);
  return { level: level.id, title: level.title, started: true, passed, checks };
}

export function notStarted({ id, title }: Level): LevelOutcome {
  return { level: id, title, started: false, passed: false, checks: [] };
}

/** Checks mostly wait for other processes, so a few run at the same time. */
async function* outcomes(context: CheckContext, level: Level): AsyncGenerator<CheckOutcome> {
  const concurrency = Math.min(4, availableParallelism());
  const running: Promise<CheckOutcome>[] = [];
  for (const [index] of level.checks.entries()) {
    for (const check of level.checks.slice(running.length, index + concurrency)) {
      running.push(runCheck(context, level, check));
    }
    yield (await running[index]) as CheckOutcome;
  }
}

/** Whether there is a run or a commit under the level's name. */
export function hasStarted(context: CheckContext, { id }: Level): boolean {
  const prefix = `l${id.replace(".", "_")}_`;
  return (
    labelled(context.commits).some(({ level, step }) => level === id && step !== "") ||
    context
      .runNames()
      .some((name) => name.startsWith(prefix) && !(id === "0" && name.startsWith("l0_5_")))
  );
}

export type FailedCheck = Extract<CheckOutcome, { passed: false }>;

/** The next thing to do; undefined when the level is passed. */
export async function nextStep(context: CheckContext, level: Level) {
  return firstToDo(outcomes(context, level));
}

/**
 * The first check that fails. Where only a commit is missing, whatever else the same step asks for
 * comes first, so that the tests are written before the commit that needs them.
 */
export async function firstToDo(
  checks: Iterable<CheckOutcome> | AsyncIterable<CheckOutcome>,
): Promise<FailedCheck | undefined> {
  let uncommitted: FailedCheck | undefined;
  for await (const outcome of checks) {
    if (uncommitted && isCommitCheck(outcome)) break;
    if (outcome.passed) continue;
    if (!outcome.failure.commit) return outcome;
    uncommitted ??= outcome;
  }
  return uncommitted;
}

async function runCheck(
  context: CheckContext,
  level: Level,
  { id, title, next: usual, run }: Check,
): Promise<CheckOutcome> {
  try {
    return { id, title, passed: true, evidence: await run(context) };
  } catch (error) {
    const failure = failureOf(error, title);
    const next = failure.commit
      ? commitCommand(level.id, currentStep(context, level))
      : (failure.next ?? usual);
    return { id, title, passed: false, failure, next: withForce(context, next) };
  }
}

/** Any error fails only its own check, so that one bad file does not hide the other results. */
function failureOf(error: unknown, title: string): Failure {
  if (error instanceof CheckFailure) return error.failure;
  if (error instanceof LockedRoomError) {
    return { expected: title, found: error.message, where: error.hint ?? "the path above" };
  }
  return {
    expected: title,
    found: `a bug in this check: ${messageOf(error)}`,
    where: "the files that the check reads; please report it",
  };
}

/** Adds --force to commands whose run exists already. */
function withForce(context: CheckContext, next: string): string {
  return next.replace(/--outdir (runs\/[\w.]+)(?! --force)/g, (flag, run: string) =>
    context.has(run) ? `${flag} --force` : flag,
  );
}
