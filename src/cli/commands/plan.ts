import { Argument, type Command } from "commander";
import { usageError } from "../../core/errors.ts";
import {
  advancePlan,
  isDay,
  localDay,
  PLAN_FILE,
  planStatus,
  reproduce,
} from "../../course/plan/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { FORMAT, type Format } from "../options.ts";
import { showAdvance, showPlan, showReproduction } from "../plan-text.ts";
import { err, out, printableJson } from "../terminal.ts";
import { BIN } from "../track.ts";

const ACTIONS = ["status", "advance", "reproduce"] as const;

/** As for a REJECT of the gate. */
const REFUSED = 1;

export const help = `Day 1 is the day of the first commit. Each criterion is one of
  ✓  met: the evidence is printed, and checked again every time
  ✗  missing: what was expected, what was found, and the next step
  –  no tool yet: this version lacks a command that it needs, or cannot check
     its output

"plan advance" exits with 1 and prints what is missing until every criterion is
met; then it records the phase in ${PLAN_FILE}, with a hash of each evidence file.

The week is a loop: learn, build, evaluate, write, review. Each stage is shown
with what commits of the week have for it; the first without is in brackets.

"plan reproduce" runs the steps of the case study in a clean folder, made from
the latest commit without runs/, and compares the figures of every run.

Examples:
  lockedroom plan
  lockedroom plan status --format json
  lockedroom plan advance
  lockedroom plan reproduce`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Prints the 120-day plan of this workspace: phases, exit criteria with evidence, the loop of this week and your streak, all from files and git.",
    )
    .addArgument(
      new Argument(
        "[action]",
        "status; advance: go to the next phase; reproduce: run the case study's steps",
      )
        .choices(ACTIONS)
        .default("status"),
    )
    .addOption(FORMAT)
    .action(async (action: (typeof ACTIONS)[number], { format }: { format: Format }) => {
      const options = {
        dir: requireWorkspace(process.cwd()),
        today: today(),
        commands: (command.parent?.commands ?? []).map((one) => one.name()),
      };
      const json = format === "json";
      if (action === "reproduce") {
        const found = await reproduce({
          ...{ dir: options.dir, cli: BIN },
          onStep: (step) => err(`lockedroom ${step.join(" ")}`),
        });
        if (json) out(printableJson(found, 2));
        else showReproduction(found);
        exit(found.problems.length > 0 ? REFUSED : 0);
        return;
      }
      if (action === "status") {
        const status = await planStatus(options);
        if (json) out(printableJson(status, 2));
        else showPlan(status);
        return;
      }
      const advance = await advancePlan(options);
      if (json) out(printableJson(advance, 2));
      else showAdvance(advance);
      exit(advance.missing.length > 0 ? REFUSED : 0);
    });
}

/** The local date; tests set LOCKEDROOM_TODAY. */
function today(): string {
  const given = process.env.LOCKEDROOM_TODAY;
  if (!given) return localDay(new Date());
  if (isDay(given)) return given;
  throw usageError(
    `LOCKEDROOM_TODAY is ${JSON.stringify(given)}, which is not a date`,
    "Write it as 2026-11-15, or unset it to use the clock.",
  );
}
