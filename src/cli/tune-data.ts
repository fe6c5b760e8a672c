/** `lockedroom tune data`: training and validation files for Azure and OpenAI from runs. */

import { Argument, Option } from "commander";
import { visible } from "../core/visible.ts";
import { readGiven } from "../runs/whole-file.ts";
import { type TuneData, writeTuneData } from "../tune/data.ts";
import { TUNE_KINDS, type TuneKind } from "../tune/kinds.ts";
import { TURNS, type Turns } from "../tune/rows.ts";
import { RULES, type RuleName } from "../tune/rules.ts";
import { numberIn, SEED, wholeNumber } from "./options.ts";
import type { Subcommand } from "./subcommand.ts";
import { commandLines, counted, hanging, out, paint, print, program, warning } from "./terminal.ts";

interface Flags {
  readonly run: readonly string[];
  readonly outdir: string;
  readonly validationShare: number;
  readonly seed: number;
  readonly system?: string;
  readonly keep: "passed" | "all";
  readonly perExample: number;
  readonly turns: Turns;
  readonly force?: boolean;
  readonly quiet?: boolean;
}

export const tuneData: Subcommand = {
  summary: "write training and validation files from runs",
  usage: "<kind> --run <run...> --outdir <folder> [options]",
  description:
    "Writes training.jsonl and validation.jsonl for SFT, DPO or RFT on Azure and OpenAI from runs, and a manifest of what they were made of.",
  help: `Runs are folders of eval, selection-demo, rollout and pairs, or JSONL files of
texts, pairs, examples or trajectories.
  sft  answers that passed, the best --per-example of each input
  dpo  pairs; of other runs the best and the worst answer to an example
  rft  examples with all fields, for graders; the system prompt is a developer
       message
Calls of tools are written as tool_calls with the tools of the environment. Rows
with an id or a prompt in common are on the same side of the split. What breaks
a rule of tune validate is left out and counted.

Exit codes:
  0  done    64 wrong usage    65 bad data

Examples:
  lockedroom tune data sft --run runs/eval --outdir tune/sft
  lockedroom tune data dpo --run runs/pairs --outdir tune/dpo --seed 7
  lockedroom tune data rft --run runs/eval --system system.txt \\
    --validation-share 0.2 --outdir tune/rft
  lockedroom tune data sft --run runs/episodes --turns rewarded --outdir tune/ep`,
  define(command) {
    command
      .addArgument(new Argument("<kind>", "kind of the files").choices(TUNE_KINDS))
      .requiredOption("--run <runs...>", "run folders or JSONL files")
      .requiredOption("--outdir <folder>", "output folder")
      .option(
        "--validation-share <x>",
        "share of rows for validation; 0: no such file",
        numberIn(0, 0.9, "a share from 0 to 0.9"),
        0.1,
      )
      .option(...SEED)
      .option("--system <file>", "instructions for rows that have none")
      .addOption(
        new Option("--keep <which>", "sft: which answers")
          .choices(["passed", "all"])
          .default("passed"),
      )
      .option("--per-example <n>", "sft: most answers to one input", wholeNumber(1, 1000), 1)
      .addOption(
        new Option("--turns <which>", "sft: which turns are learned; others get weight 0")
          .choices(TURNS)
          .default("all"),
      )
      .option("--force", "overwrite earlier files in --outdir")
      .option("--quiet", "print only errors")
      .action((_name: string, kind: TuneKind, flags: Flags) => run(kind, flags));
  },
};

async function run(kind: TuneKind, flags: Flags): Promise<void> {
  const { run: runs, keep, system, ...others } = flags;
  const written = await writeTuneData({
    ...{ ...others, kind, runs, keepAll: keep === "all" },
    system: system === undefined ? undefined : (await readGiven(system)).trimEnd(),
  });
  if (!flags.quiet) report(written);
}

const WHY: Readonly<Record<string, string>> = {
  not_passed: "examples without an answer that passed",
  no_reward_difference: "examples without two answers of different rewards",
  nothing_to_learn: "answers without a rewarded turn",
  repeated: "rows that repeat another",
};

function report({ outdir, manifest, notes }: TuneData): void {
  const { files, kind, sources, left_out: leftOut } = manifest;
  for (const { path, what, tasks, rows } of sources)
    print(`${visible(path)} (${what}): ${counted(tasks, "task")}, ${counted(rows, "row")}`);
  for (const note of notes) out(warning(note));
  for (const [reason, count] of Object.entries(leftOut)) {
    const why = WHY[reason] ?? `rows left out: ${reason} (${RULES[reason as RuleName].about})`;
    out(hanging(`${String(count).padStart(8)}  `, why));
  }
  out();
  const { training, validation } = files;
  const held = validation ? `, ${counted(validation.rows, "row")} for validation` : "";
  print(paint("bold", `Wrote ${counted(training.rows, "row")} of ${kind} for training${held}.`));
  if (kind === "sft" && training.rows < 10) out(warning("A job needs at least 10 training rows."));
  out(commandLines(`Next: ${program()} tune validate`, [`${outdir}/${training.file}`]));
}
