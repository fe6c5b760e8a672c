import type { Command } from "commander";
import {
  CHECK_SCHEMA,
  type CheckOutcome,
  checkLevel,
  EXTRA_LEVELS,
  firstToDo,
  hasStarted,
  LEVELS,
  type LevelOutcome,
  levelOf,
  notStarted,
} from "../../course/check.ts";
import type { CheckContext } from "../../course/check-context.ts";
import type { Level, LevelId } from "../../course/level.ts";
import { MENTAL_MAP, type MentalMap, readMentalMap } from "../../course/mental-map.ts";
import { FORMAT, type Format } from "../options.ts";
import { hanging, out, paint, print, printableJson, program } from "../terminal.ts";
import { levelArgument, printAfter, printFailure, steps, withCheckContext } from "../track.ts";

export const help = `Examples:
  lockedroom check 0
  lockedroom check
  lockedroom check 4 --format json`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Checks the evidence of levels: repeats runs, calls code with hidden inputs, reads the git history. Exit code 1 if a level fails.",
    )
    .argument(
      "[level]",
      "0, 0.5, 1, 2, 3, 4, 5 or 6; 7 is extra; without it, every level",
      levelArgument,
    )
    .addOption(FORMAT)
    .action(async (id: LevelId | undefined, { format }: { format: Format }) => {
      const printing = format === "text";
      const { outcomes, extra, map } = await withCheckContext(async (context) => ({
        outcomes: await checkLevels(context, id === undefined ? LEVELS : levelOf(id), printing),
        extra: id === undefined ? await checkLevels(context, EXTRA_LEVELS, printing) : [],
        map: readMentalMap(context.has(MENTAL_MAP) ? await context.read(MENTAL_MAP) : undefined),
      }));
      const passed = outcomes.every((outcome) => outcome.passed);
      if (format === "json") {
        const report = { schema: CHECK_SCHEMA, passed, levels: outcomes, extra, mental_map: map };
        out(printableJson(report, 2));
      } else if (id === undefined) {
        printMentalMap(map);
        printTotal(outcomes, extra);
      }
      exit(passed ? 0 : 1);
    });
}

async function checkLevels(
  context: CheckContext,
  asked: Level | readonly Level[],
  printing: boolean,
): Promise<LevelOutcome[]> {
  const outcomes: LevelOutcome[] = [];
  const alone = "id" in asked;
  for (const level of alone ? [asked] : asked) {
    const started = alone || hasStarted(context, level);
    const title = paint("bold", `Level ${level.id}: ${level.title}`);
    if (printing) out(started ? title : `${title}  not started`);
    const outcome = started
      ? await checkLevel(context, level, printing ? printCheck : undefined)
      : notStarted(level);
    outcomes.push(outcome);
    if (printing && started) await printEnd(outcome, alone);
  }
  return outcomes;
}

function printCheck(outcome: CheckOutcome): void {
  const mark = outcome.passed ? paint("green", "✓") : paint("red", "✗");
  out(hanging(`  ${mark} `, outcome.title, 4));
  if (outcome.passed) print(outcome.evidence, "      ");
  else printFailure(outcome.failure, "      ");
}

async function printEnd(outcome: LevelOutcome, alone: boolean): Promise<void> {
  const { level, checks, passed } = outcome;
  const todo = await firstToDo(checks);
  out();
  if (passed) {
    out(paint("green", `Level ${level} passed: ${checks.length} checks pass.`));
    if (alone) printAfter(level);
  } else if (todo) {
    const count = checks.filter((check) => check.passed).length;
    out(`${count} of ${checks.length} checks pass. Do now:`);
    out(steps(todo.next));
  }
  out();
}

/** Progress only: the note is for the learner, and no level needs it. */
function printMentalMap({ written, total, drills, file }: MentalMap): void {
  out(`Mental map: ${written} of ${total} drills written in ${file}.`);
  for (const { id, problem } of drills) if (problem) out(hanging(`  ${id}  `, problem));
  out();
}

function printTotal(outcomes: readonly LevelOutcome[], extra: readonly LevelOutcome[]): void {
  const passed = outcomes.filter((outcome) => outcome.passed).length;
  out(`${passed} of ${outcomes.length} levels passed.`);
  for (const { level, started, passed: whole } of extra) {
    const state = whole ? "passed" : started ? "begun" : "not started";
    out(`Levels 0 to 6 are the track. Level ${level} is extra: ${state}.`);
  }
  const first = outcomes.find((outcome) => !outcome.passed);
  out(`Next: ${program()} ${first ? `level ${first.level} --next` : "plan"}`);
}
