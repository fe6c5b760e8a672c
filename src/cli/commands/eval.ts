/** `lockedroom eval` */

import type { Command } from "commander";
import { evaluate } from "../../loops/eval.ts";
import { warnings } from "../../runs/note.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { DEFAULT_TIMEOUT_MS } from "../../scorers/open.ts";
import { explained } from "../data-kind.ts";
import { CONCURRENCY, milliseconds, SCORER_HELP, wholeNumber } from "../options.ts";
import { bar, out, paint, percent, program, wrap } from "../terminal.ts";
import { type ScoringFlags, withScoring } from "../with-scoring.ts";
import { printWritten } from "../written.ts";

interface Flags extends ScoringFlags {
  readonly dataset: string;
  readonly completions: string;
  readonly outdir: string;
  readonly maxExamples?: number;
  readonly force?: boolean;
}

export const help = `Examples:
  lockedroom eval --dataset data/datasets/math_dev.jsonl \\
    --completions data/rollouts/frozen_rollouts_dev.jsonl --outdir runs/first
  lockedroom eval --dataset d.jsonl --completions c.jsonl --outdir runs/mine \\
    --scorer my-scorer.ts --jobs 2`;

export function define(command: Command): Command {
  return command
    .description("Scores one completion per example and writes a run (Loop A).")
    .requiredOption("--dataset <file>", "examples, JSONL: id, prompt, expected_answer")
    .requiredOption("--completions <file>", "completions, JSONL: id, completion")
    .requiredOption("--outdir <folder>", "where the run is written; new or empty")
    .option("--scorer <name|file>", SCORER_HELP)
    .option("--max-examples <n>", "use only the first n examples", wholeNumber(1))
    .option("--jobs <n>", "scoring threads; they do not change the results", wholeNumber(1, 64), 1)
    .addOption(CONCURRENCY)
    .option(
      "--scorer-timeout <ms>",
      "time limit for scoring one row",
      milliseconds,
      DEFAULT_TIMEOUT_MS,
    )
    .option("--force", "overwrite a finished run in --outdir")
    .option("--quiet", "print only errors")
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const outcome = await withScoring(
    flags,
    "Scoring",
    [flags.dataset, flags.completions],
    (scorer, onBytes) => evaluate({ ...flags, scorer, onBytes }),
  ).catch((error) => {
    throw explained(error, {
      ...{ file: flags.completions, wanted: "completions", who: "eval scores" },
      instead: { packs: `Use selection-demo --samples ${flags.completions}.` },
    });
  });
  if (!flags.quiet) printOutcome(outcome);
}

export function printOutcome({ dir, summary }: FinishedRun): void {
  const { metrics, outcomes, scorer } = summary;
  out(`Scored ${metrics.n_examples} examples with ${scorer.name} ${scorer.version}.`);
  for (const warning of warnings(summary)) out(paint("yellow", wrap(`! ${warning}`, "  ")));
  out();
  if (metrics.pass_rate === null || metrics.pass_rate_ci95 === null)
    out("  pass rate    undefined: nothing was scored");
  else {
    const [low, high] = metrics.pass_rate_ci95;
    out(
      `  pass rate    ${paint("bold", metrics.pass_rate.toFixed(4))}  ${metrics.n_pass} of ${metrics.n_scored}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`,
    );
    out(`  mean reward  ${metrics.mean_reward?.toFixed(4)}`);
  }
  out();
  for (const [code, count] of Object.entries(outcomes.counts).sort((a, b) => b[1] - a[1])) {
    const share = count / metrics.n_examples;
    out(
      `  ${code.padEnd(25)} ${String(count).padStart(6)} ${percent(share).padStart(7)} ${bar(share)}`,
    );
  }
  out();
  printWritten(dir, summary);
  out(`Next: ${program()} inspect-run --run ${dir} --only-fails`);
}
