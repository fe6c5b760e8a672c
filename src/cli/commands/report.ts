import { existsSync } from "node:fs";
import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { gate } from "../../gate/gate.ts";
import { verdictReport } from "../../report/gate/report.ts";
import { report } from "../../report/report.ts";
import type { Report } from "../../report/report-type.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { verdictToShow } from "../../verify/verdict.ts";
import { numberIn, pricesOf } from "../options.ts";
import { print } from "../terminal.ts";

interface Flags {
  readonly run?: readonly string[];
  readonly baseline?: string;
  readonly candidate?: string;
  readonly verdict?: string;
  readonly slice?: string;
  readonly outfile: string;
  readonly pricePerHour?: number;
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly alias?: string;
  readonly force?: boolean;
}

const PRICE = numberIn(0, 1e9, "a number from 0 up");

export const help = `A page about training says whether a run is finished, unfinished or stopped by
an alarm; runs of the other kinds must be finished. All rows are counted, and
the first of each outcome are shown. The same runs give the same bytes.

--slice takes a field of the data set, such as metadata.topic: a table with the
rates of each value, or of a comparison, with the difference in each.
With --baseline and --candidate the gate decides with its defaults. For --claim
or --margin, write the verdict with gate --report and give it as --verdict.
The gate is asked again, and a file that says something else is refused.

Examples:
  lockedroom report --run runs/first --outfile first.html
  lockedroom report --run runs/first --slice metadata.topic \\
    --outfile topics.html
  lockedroom report --run runs/grpo runs/ppo --price-per-hour 2.5 \\
    --outfile compared.html --force
  lockedroom report --run runs/matrix --outfile matrix.html
  lockedroom report --baseline runs/old --candidate runs/new \\
    --outfile gate.html
  lockedroom gate --baseline runs/old --candidate runs/new --claim policy \\
    --report verdict.json
  lockedroom report --verdict verdict.json --outfile gate.html`;

export function define(command: Command): void {
  command
    .description(
      "Writes an HTML page about runs of any kind, or about a verdict of the gate: key figures, charts, outcomes, failing rows, flips side by side. One self-contained file; several runs of one kind share a page.",
    )
    .option("--run <folders...>", "run folder, several of one kind to compare, or a matrix")
    .option("--baseline <run>", "page about a comparison: run of the current policy")
    .option("--candidate <run>", "page about a comparison: run that may replace it")
    .option("--slice <field>", "also show each value of this field of the data set apart")
    .option("--verdict <file>", "verdict of the gate, as gate --report wrote it")
    .requiredOption("--outfile <file>", "HTML file to write (must end in .html)")
    .option(
      "--price-per-hour <x>",
      "price of the machine, to show the cost of training or sampling",
      PRICE,
    )
    .option("--price-in <x>", "price per million prompt tokens", PRICE)
    .option("--price-out <x>", "price per million completion tokens", PRICE)
    .option("--alias <name>", "alias of the policy: what uses it, the way back")
    .option("--force", "overwrite an existing file")
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const make = pageOf(flags);
  refuseOutput(flags.outfile, flags.force ?? false);
  const { html, runs } = await make();
  await writeWhole(flags.outfile, html);
  for (const { name, status } of runs) print(`${name}: ${status}`);
  print(`Report written to ${flags.outfile}`);
}

/** Exactly one of the three things that a page can be about. */
function pageOf(flags: Flags) {
  const { run: runs, baseline, candidate, verdict, slice, pricePerHour, alias } = flags;
  const business = { prices: pricesOf(flags), pricePerHour, alias };
  const isGate = baseline !== undefined || candidate !== undefined;
  const given = [runs !== undefined, isGate, verdict !== undefined].filter(Boolean).length;
  if (given !== 1 || (isGate && (baseline === undefined || candidate === undefined)))
    throw usageError(
      "a report is about runs, a comparison or a verdict",
      "Give --run, or both --baseline and --candidate, or --verdict.",
    );
  if (slice !== undefined && verdict !== undefined)
    throw usageError(
      "--slice does not change a verdict that is already written",
      "Give --slice to the gate that writes it.",
    );
  return async (): Promise<Report> => {
    const fields = slice === undefined ? undefined : [slice];
    if (runs !== undefined) return report({ runs, slice: fields, ...business });
    if (verdict !== undefined)
      return verdictReport({ verdict: await verdictToShow(verdict), ...business });
    return verdictReport({
      ...business,
      verdict: await gate({ baseline: baseline ?? "", candidate: candidate ?? "", slice }),
    });
  };
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
