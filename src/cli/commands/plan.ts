import { Argument, type Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { advancePlan, isDay, localDay, PLAN_FILE, planStatus } from "../../course/plan/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { FORMAT, type Format } from "../options.ts";
import { showAdvance, showPlan } from "../plan-text.ts";
import { out, printableJson } from "../terminal.ts";

/** As for a REJECT of the gate. */
const REFUSED = 1;

export const help = `Day 1 is the day of the first commit. Each criterion is one of
  ✓  met: the evidence is printed, and checked again every time
  ✗  missing: what was expected, what was found, and the next step
  –  no tool yet: this version lacks a command that it needs, or cannot check
     its output

"plan advance" exits with 1 and prints what is missing until every criterion is
met; then it records the phase in ${PLAN_FILE}, with a hash of each evidence file.

Examples:
  lockedroom plan
  lockedroom plan --format json
  lockedroom plan advance`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Prints the 120-day plan of this workspace: phases, exit criteria with evidence, the deliverables of this week and your streak, all from files and git.",
    )
    .addArgument(
      new Argument("[action]", "advance: go to the next phase, if every criterion is met").choices([
        "advance",
      ]),
    )
    .addOption(FORMAT)
    .action(async (action: "advance" | undefined, { format }: { format: Format }) => {
      const options = {
        dir: requireWorkspace(process.cwd()),
        today: today(),
        commands: (command.parent?.commands ?? []).map((one) => one.name()),
      };
      const json = format === "json";
      if (action === undefined) {
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
