import { type Command, Option } from "commander";
import { type Comparison, compareRuns } from "../../gate/compare.ts";
import { GATE_EXIT } from "../../gate/gate.ts";
import { compareMarkdown, compareText } from "../compare-text.ts";
import { numberIn } from "../options.ts";
import { gridMarkdown, gridText, type SliceGrid, sliceGrids } from "../slice-grid.ts";
import { out, printableJson } from "../terminal.ts";

type Format = "text" | "json" | "markdown";

interface Flags {
  readonly baseline: string;
  readonly alpha: number;
  readonly format: Format;
}

export const help = `Examples and scorer must be the same in all runs. Other prompts, settings and
policies are named below each run. Slices are shown for the fields that all runs
were evaluated with (eval --slice). To promote one of the runs, use the gate.

Exit codes:
  0  all runs were compared        3  one of them is not comparable

Examples:
  lockedroom compare runs/b runs/c runs/d --baseline runs/a
  lockedroom compare runs/matrix/*/run --baseline runs/a --format markdown`;

const PRINT: Record<Format, (found: Comparison, slices: readonly SliceGrid[]) => string> = {
  text: (found, slices) => [compareText(found), ...slices.map(gridText)].join("\n\n"),
  json: (found, slices) => printableJson({ ...found, ...(slices.length > 0 && { slices }) }, 2),
  markdown: (found, slices) => [compareMarkdown(found), ...slices.map(gridMarkdown)].join("\n"),
};

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Compares several runs with one baseline: a table with paired differences, intervals, and p-values corrected for the number of comparisons.",
    )
    .argument("<run...>", "runs to compare with the baseline")
    .requiredOption("--baseline <run>", "run that the others are compared with")
    .option(
      "--alpha <a>",
      "intervals have the confidence 1 - alpha",
      numberIn(1e-9, 0.5, "above 0 and at most 0.5"),
      0.05,
    )
    .addOption(
      new Option("--format <format>", "output format").choices(Object.keys(PRINT)).default("text"),
    )
    .action(async (runs: string[], flags: Flags) => {
      const found = await compareRuns({ ...flags, runs });
      out(PRINT[flags.format](found, await sliceGrids(found)).trimEnd());
      if (found.runs.some(({ refused }) => refused.length > 0)) exit(GATE_EXIT.NOT_COMPARABLE);
    });
}
