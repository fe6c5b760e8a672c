import type { Command } from "commander";
import { EXTRA_LEVELS, hasStarted, LEVELS, levelOf, nextStep } from "../../course/check.ts";
import { describeBudget } from "../../course/git-checks.ts";
import type { Level, LevelId } from "../../course/level.ts";
import { findWorkspace } from "../../course/workspace.ts";
import { hanging, out, paint, print, program, wrap } from "../terminal.ts";
import { levelArgument, printAfter, printFailure, steps, withCheckContext } from "../track.ts";

export const help = `Examples:
  lockedroom level
  lockedroom level 0
  lockedroom level 0.5 --next`;

export function define(command: Command): void {
  command
    .description(
      "Prints a level of the mastery track: the idea, the commands to copy, the tasks, the knob budget and the checklist. Without a number, lists the levels.",
    )
    .argument("[level]", "0, 0.5, 1, 2, 3, 4, 5 or 6; 7 is extra", levelArgument)
    .option("--next", "check the level and print the next thing to do")
    .action(run);
}

async function run(id: LevelId | undefined, { next }: { next?: boolean }): Promise<void> {
  if (next) return printNext(id);
  if (id === undefined) return list(await started());
  show(levelOf(id));
}

/** The levels that were started in the current workspace, if there is one. */
async function started(): Promise<ReadonlySet<LevelId>> {
  if (findWorkspace(process.cwd()) === undefined) return new Set();
  return withCheckContext(async (context) => {
    const found = [...LEVELS, ...EXTRA_LEVELS].filter((level) => hasStarted(context, level));
    return new Set(found.map(({ id }) => id));
  });
}

function list(ids: ReadonlySet<LevelId>): void {
  out("The mastery track: build, sabotage, reflect, repair.");
  out();
  const line = ({ id, title, loop }: Level) =>
    out(`  ${ids.has(id) ? "●" : "○"} ${id.padEnd(4)} ${title.padEnd(36)} Loop ${loop}`);
  LEVELS.forEach(line);
  out();
  out("Extra, after the track:");
  out();
  EXTRA_LEVELS.forEach(line);
  out();
  if (ids.size === 0) out(`Start with: ${program()} level 0`);
  else out(`● started. Status: ${program()} check. Next step: ${program()} level --next`);
}

function show(level: Level): void {
  const { id, title, loop, wrong, right } = level;
  out(`${paint("bold", `Level ${id}: ${title}`)} (Loop ${loop})`);
  out();
  print(`Wrong: ${wrong}`, "  ");
  print(`Right: ${right}`, "  ");
  for (const [name, { text, commands }] of Object.entries(level.stages)) {
    heading(name);
    print(text, "  ");
    if (commands.length > 0) out();
    // Not indented, so that they can be copied.
    for (const line of commands) out(line);
  }
  heading("Tasks");
  for (const task of level.tasks) out(hanging("  - ", task));
  heading("Knob budget");
  print(describeBudget(level.budget), "  ");
  heading("Commits, in this order");
  for (const { name, file } of level.commits) {
    print(`L${id} ${name}, with ${file}`, "  ");
  }
  heading("You are done when you can answer");
  for (const question of level.checklist) out(hanging("  - ", question));
  out();
  out(`Next: ${program()} level ${id} --next`);
}

function heading(text: string): void {
  out();
  out(paint("bold", text));
}

async function printNext(id: LevelId | undefined): Promise<void> {
  await withCheckContext(async (context) => {
    const levels = id === undefined ? LEVELS : [levelOf(id)];
    for (const level of levels) {
      const step = await nextStep(context, level);
      if (!step) continue;
      out(paint("bold", wrap(`Level ${level.id}: ${step.title}`)));
      out();
      printFailure(step.failure, "  ");
      out();
      out(paint("bold", "Do now"));
      out(steps(step.next));
      return;
    }
    out(id === undefined ? "Every level is passed." : `Level ${id} is passed.`);
    if (id === undefined) out(`Next: ${program()} plan`);
    else printAfter(id);
  });
}
