/** `lockedroom check` */

import { type Command, Option } from "commander";
import {
  CHECK_SCHEMA,
  type CheckOutcome,
  checkLevel,
  hasBegun,
  type LevelOutcome,
  notBegun,
} from "../../course/check.ts";
import type { Level, LevelId } from "../../course/level.ts";
import { LEVELS, levelOf } from "../../course/levels/index.ts";
import type { Room } from "../../course/room.ts";
import { levelArgument, withRoom } from "../course-room.ts";
import { out, paint, printableJson, program, wrap } from "../terminal.ts";
import { steps } from "./level.ts";

export function define(command: Command, exit: (code: number) => void): Command {
  return command
    .description(
      "Judges levels by their evidence: runs are made again, code meets hidden inputs,\nthe history is read. Exit code 0 if everything asked about holds, otherwise 1.",
    )
    .argument("[level]", "0, 0.5, 1, 2, 3, 4, 5 or 6; without it, every level", levelArgument)
    .addOption(
      new Option("--format <format>", "how to print").choices(["text", "json"]).default("text"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  lockedroom check 0\n  lockedroom check\n  lockedroom check 4 --format json",
    )
    .action(async (id: LevelId | undefined, { format }: { format: "text" | "json" }) => {
      const outcomes = await withRoom((room) => judge(room, id, format === "text"));
      const passed = outcomes.every((outcome) => outcome.passed);
      if (format === "json") {
        out(printableJson({ schema: CHECK_SCHEMA, passed, levels: outcomes }, 2));
      } else if (id === undefined) printTotal(outcomes);
      exit(passed ? 0 : 1);
    });
}

async function judge(
  room: Room,
  id: LevelId | undefined,
  printing: boolean,
): Promise<LevelOutcome[]> {
  const outcomes: LevelOutcome[] = [];
  for (const level of id === undefined ? LEVELS : [levelOf(id)]) {
    const begun = id !== undefined || hasBegun(room, level);
    if (printing) heading(level, begun);
    const outcome = begun
      ? await checkLevel(room, level, printing ? printCheck : undefined)
      : notBegun(level);
    outcomes.push(outcome);
    if (printing && begun) printEnd(outcome);
  }
  return outcomes;
}

function heading({ id, title }: Level, begun: boolean): void {
  out(`${paint("bold", `Level ${id}: ${title}`)}${begun ? "" : "  not begun"}`);
}

function printCheck(outcome: CheckOutcome): void {
  if (outcome.holds) {
    out(`${paint("green", "  ✓")} ${hanging(outcome.title)}`);
    out(wrap(outcome.seen, "      "));
    return;
  }
  const { expected, found, look } = outcome.lack;
  out(`${paint("red", "  ✗")} ${hanging(outcome.title)}`);
  out(wrap(`expected ${expected}`, "      "));
  out(wrap(`found    ${found}`, "      "));
  out(wrap(`look     ${look}`, "      "));
}

function hanging(title: string): string {
  return wrap(title, "    ").trimStart();
}

function printEnd({ level, checks, passed }: LevelOutcome): void {
  const failed = checks.find((check) => !check.holds);
  out();
  if (passed) out(paint("green", `Level ${level} passed: ${checks.length} checks hold.`));
  else if (failed && !failed.holds) {
    const count = checks.filter(({ holds }) => holds).length;
    out(`${count} of ${checks.length} checks hold. Do now:`);
    out(steps(failed.next));
  }
  out();
}

function printTotal(outcomes: readonly LevelOutcome[]): void {
  const passed = outcomes.filter((outcome) => outcome.passed).length;
  out(`${passed} of ${outcomes.length} levels passed.`);
  const first = outcomes.find((outcome) => !outcome.passed);
  if (first) out(`Next: ${program()} level ${first.level} --next`);
}
