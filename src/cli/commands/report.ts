/** `lockedroom report` */

import { existsSync } from "node:fs";
import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { trainingReport } from "../../report/training/report.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { numberIn } from "../options.ts";
import { out, wrap } from "../terminal.ts";

interface Flags {
  readonly run: readonly string[];
  readonly output: string;
  readonly pricePerHour?: number;
  readonly force?: boolean;
}

const PRICE = numberIn(0, 1e9, "a number from 0 up");

export function define(command: Command): Command {
  return command
    .description(
      "One page about training runs: figures, curves, alarms, samples, cost. A single\nfile that needs no network; several runs are drawn over each other.",
    )
    .requiredOption("--run <folders...>", "the run, or several to compare")
    .requiredOption("-o, --output <file>", "the page to write; its name ends in .html")
    .option("--price-per-hour <x>", "of the machine; turns the time into money", PRICE)
    .option("--force", "replace the page that is there")
    .addHelpText(
      "after",
      `
A run that is unfinished, or was stopped by an alarm, is said to be so at the
top. The same runs give the same bytes.

Examples:
  lockedroom report --run runs/grpo -o report.html
  lockedroom report --run runs/grpo runs/ppo -o compared.html \\
    --price-per-hour 2.5 --force`,
    )
    .action(run);
}

async function run({ run: runs, output, pricePerHour, force }: Flags): Promise<void> {
  refuseOutput(output, force ?? false);
  const report = await trainingReport({ runs, pricePerHour });
  await writeWhole(output, report.html);
  for (const { name, verdict } of report.runs) out(wrap(`${name}: ${verdict}`));
  out(wrap(`Report written to ${output}`));
}

/** The ending keeps a slip of the finger from replacing a run's own file. */
function refuseOutput(file: string, force: boolean): void {
  if (!/\.html?$/i.test(file))
    throw usageError(
      `${file} is no name for a page`,
      "End it in .html, so that a browser opens it.",
    );
  if (existsSync(file) && !force)
    throw usageError(`${file} is there already`, "Choose another -o, or replace it with --force.");
}
