/** `lockedroom plan` */

import { Argument, type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import { advancePlan, isDay, localDay, PLAN_FILE, planStatus } from "../../course/plan/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { showAdvance, showPlan } from "../plan-text.ts";
import { out, printableJson } from "../terminal.ts";

interface Flags {
  readonly format: "text" | "json";
}

/** As it is at the gate: a verdict that says no. */
const REFUSED = 1;

export function define(command: Command, exit: (code: number) => void): Command {
  return command
    .description(
      "The 120-day plan of this workspace: phases, exit criteria with their evidence,\nthis week's deliverables and your streak, all read from files and from git.",
    )
    .addArgument(
      new Argument("[action]", "advance: leave the phase, if its exit holds").choices(["advance"]),
    )
    .addOption(
      new Option("--format <format>", "how to print it").choices(["text", "json"]).default("text"),
    )
    .addHelpText(
      "after",
      `
Day 1 is the day of the first commit. Each criterion is one of
  ✓  met: the evidence is named, and looked at again every time
  ✗  missing: what was expected, what was found, and the next step
  –  no tool yet: this version lacks the command that it needs, or has it and
     cannot judge what it makes

"plan advance" exits with 1 and says what is missing until everything holds;
then it is recorded in ${PLAN_FILE}, with the hash of each piece of evidence.

Examples:
  lockedroom plan
  lockedroom plan --format json
  lockedroom plan advance`,
    )
    .action(async (action: "advance" | undefined, flags: Flags) => {
      const options = {
        dir: requireWorkspace(process.cwd()),
        today: today(),
        commands: (command.parent?.commands ?? []).map((one) => one.name()),
      };
      const json = flags.format === "json";
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

/** The local date; tests say theirs. */
function today(): string {
  const told = process.env.LOCKEDROOM_TODAY;
  if (!told) return localDay(new Date());
  if (isDay(told)) return told;
  throw usageError(
    `LOCKEDROOM_TODAY is ${JSON.stringify(told)}, which is no date`,
    "Write it as 2026-11-15, or unset it to use the clock.",
  );
}
