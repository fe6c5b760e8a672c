import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Argument, type Command, Option } from "commander";
import { ioError, usageError } from "../../core/errors.ts";
import type { Sabotage } from "../../laboratory/sabotage.ts";
import type { SabotageReport, SabotageResult } from "../../runs/sabotage-report.ts";
import { startProgress } from "../progress.ts";
import { hanging, out, paint, print, printableJson } from "../terminal.ts";

type Format = "text" | "json" | "markdown";

interface Flags {
  readonly run?: string;
  readonly train?: string;
  readonly outdir?: string;
  readonly quiet?: boolean;
  readonly format: Format;
}

export const help = `A name is that of a sabotage or of a family, such as seeds. Every sabotage is
played on copies, together with its honest twin: the same pipeline without the
trick, which must not be refused for the same reason. Some forgeries fit
together so well that only making the run again (verify) shows them, and a few
are seen by nothing; the catalogue says which.

Exit codes:
  0  everything is as the catalogue says   1  something is not
  64 wrong usage   65 bad run   70 internal error   74 disk error

Examples:
  lockedroom sabotage list
  lockedroom sabotage run
  lockedroom sabotage run seeds leaks
  lockedroom sabotage run forgeries --run runs/first --outdir sabotaged`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Cheats on purpose, and reports which check catches it: edited runs, leaked data, chosen seeds, changed scorers, bugs in training.",
    )
    .addArgument(new Argument("<action>", "list or run").choices(["list", "run"]))
    .argument("[names...]", "sabotages or families; all unless given")
    .option("--run <run>", "evaluation to sabotage (default: one of the embedded policy)")
    .option("--train <run>", "training run whose checkpoint and data the trainings use")
    .option("--outdir <folder>", "keep what is made in this folder; new or empty")
    .addOption(
      new Option("--format <format>", "output format")
        .choices(["text", "json", "markdown"])
        .default("text"),
    )
    .option("--quiet", "no progress bar")
    .action(async (action: string, names: string[], flags: Flags) => {
      // Loaded lazily: the catalogue needs nearly everything.
      const { sabotagesNamed } = await import("../../laboratory/catalogue/index.ts");
      const sabotages = sabotagesNamed(names);
      if (action === "list") return list(sabotages, flags);
      const report = await inFolder(flags.outdir, (dir) => play(sabotages, dir, flags));
      await show(report, flags.format);
      exit(report.as_expected ? 0 : 1);
    });
}

async function list(sabotages: readonly Sabotage[], { format }: Flags): Promise<void> {
  const { nameOf } = await import("../../laboratory/sabotage.ts");
  const rows = sabotages.map(({ name, family, trick, honest, caught }) => ({
    ...{ name, family, trick, honest, caught_by: nameOf(caught) },
    because: caught.check === "nothing" ? caught.because : null,
  }));
  if (format === "json") return out(printableJson(rows, 2));
  if (format === "markdown") {
    out("| sabotage | family | what is done | caught by |\n|---|---|---|---|");
    for (const { name, family, trick, caught_by } of rows)
      out(`| \`${name}\` | ${family} | ${trick} | ${caught_by} |`);
    return;
  }
  for (const [i, { name, family, trick, caught_by, because }] of rows.entries()) {
    if (rows[i - 1]?.family !== family) out(`${i > 0 ? "\n" : ""}${paint("bold", family)}`);
    out(`  ${name}`);
    print(trick, "    ");
    print(because === null ? `caught by ${caught_by}` : `caught by nothing: ${because}`, "    ");
  }
  out(`\n${rows.length} sabotages`);
}

async function play(
  sabotages: readonly Sabotage[],
  dir: string,
  { run, train, quiet }: Flags,
): Promise<SabotageReport> {
  const { runSabotages } = await import("../../laboratory/run.ts");
  const progress = startProgress("Sabotaging", sabotages.length, quiet);
  try {
    return await runSabotages({
      ...{ dir, sabotages, run, train, onDone: () => progress.add(1) },
    });
  } finally {
    progress.stop();
  }
}

/** The folder that is given and empty, or one that is removed afterwards. */
async function inFolder<T>(
  given: string | undefined,
  work: (dir: string) => Promise<T>,
): Promise<T> {
  if (given !== undefined) {
    if (entriesOf(given).length > 0)
      throw usageError(`${given} is not empty`, "Name a new or empty folder.");
    return work(path.resolve(given));
  }
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-sabotage-"));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw ioError(`read ${dir}`, error, "usage");
  }
}

async function show(report: SabotageReport, format: Format): Promise<void> {
  const { sabotageCounts, sabotageMarkdown, verdictOf } = await import(
    "../../laboratory/render.ts"
  );
  const { results } = report;
  const said = (result: SabotageResult) => {
    if (result.caught) return verdictOf(result);
    if (result.as_expected) return "NOT CAUGHT, as the catalogue says";
    return `NOT CAUGHT, expected ${result.expected}`;
  };
  if (format === "json") return out(printableJson(report, 2));
  if (format === "markdown") return out(sabotageMarkdown(results).trimEnd());
  const width = Math.max(...results.map(({ name }) => name.length)) + 2;
  for (const [i, result] of results.entries()) {
    if (results[i - 1]?.family !== result.family)
      out(`${i > 0 ? "\n" : ""}${paint("bold", result.family)}`);
    const label = `  ${result.name.padEnd(width)}`;
    out(hanging(label, result.as_expected ? said(result) : paint("red", said(result))));
  }
  out();
  print(sabotageCounts(results));
}
