import { existsSync } from "node:fs";
import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { trainingReport } from "../../report/training/report.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { numberIn } from "../options.ts";
import { print } from "../terminal.ts";

interface Flags {
  readonly run: readonly string[];
  readonly outfile: string;
  readonly pricePerHour?: number;
  readonly force?: boolean;
}

const PRICE = numberIn(0, 1e9, "a number from 0 up");

export const help = `The top of the page says whether a run is finished, unfinished or stopped by an
alarm. The same runs give the same bytes.

Examples:
  lockedroom report --run runs/grpo --outfile report.html
  lockedroom report --run runs/grpo runs/ppo --price-per-hour 2.5 \\
    --outfile compared.html --force`;

export function define(command: Command): void {
  command
    .description(
      "Writes an HTML report about training runs: key figures, curves, alarms, samples, cost. One self-contained file; several runs share the charts.",
    )
    .requiredOption("--run <folders...>", "training run folder, or several to compare")
    .requiredOption("--outfile <file>", "HTML file to write (must end in .html)")
    .option("--price-per-hour <x>", "price of the machine, to show the cost in money", PRICE)
    .option("--force", "overwrite an existing file")
    .action(run);
}

async function run({ run: runs, outfile, pricePerHour, force }: Flags): Promise<void> {
  refuseOutput(outfile, force ?? false);
  const report = await trainingReport({ runs, pricePerHour });
  await writeWhole(outfile, report.html);
  for (const { name, status } of report.runs) print(`${name}: ${status}`);
  print(`Report written to ${outfile}`);
}

/** The ending keeps a mistyped path from overwriting a file of a run. */
function refuseOutput(file: string, force: boolean): void {
  if (!/\.html?$/i.test(file))
    throw usageError(
      `the output file ${file} does not end in .html`,
      "Give a name that ends in .html.",
    );
  if (existsSync(file) && !force)
    throw usageError(
      `${file} already exists`,
      "Choose another --outfile, or overwrite it with --force.",
    );
}
