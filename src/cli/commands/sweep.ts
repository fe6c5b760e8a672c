import path from "node:path";
import type { Command } from "commander";
import { parseMeasurePair } from "../../curves/tradeoff.ts";
import { algorithmOf } from "../../learn/algorithms/index.ts";
import { mergeSettings } from "../../learn/recipe.ts";
import { completed } from "../../learn/settings.ts";
import { type SweepOutcome, sweep } from "../../learn/sweep.ts";
import type { SweepPoint, Tradeoff } from "../../runs/sweep-schema.ts";
import { sweptSetting, sweptValues } from "../swept-values.ts";
import { commandLines, out, print, program, warning } from "../terminal.ts";
import { addTrainOptions, type TrainFlags, withTrainOptions } from "../train-options.ts";
import { stoppedBy } from "../training-lines.ts";
import { TrainingProgress } from "../training-progress.ts";

interface Flags extends TrainFlags {
  readonly over: string;
  readonly tradeoff: string;
}

export const help = `Each value has its own run in --outdir. Finished runs are kept, so an
interrupted sweep continues. Results: sweep.json, and the trade-off curve of two
measures as tradeoff.json, tradeoff.svg and tradeoff.png. A value is
Pareto-optimal (*) when no other is at least as good in both and better in one.

Measures of --tradeoff OBJECTIVE:OTHER, of the kept policy on --dev: reward,
pass_rate, proxy_reward, kl, entropy, length, truncated. Of the whole run:
tokens. Of training: reward/NAME where there are several scorers, cost/mean.

A value may be a list: --over weights=[1,0],[1,0.3] weighs two --scorer files.

Examples:
  lockedroom sweep grpo --over kl.coefficient=0,0.01,0.03,0.1 \\
    --set kl.mode=fixed --init pi0 --dataset data/datasets/math_train.jsonl \\
    --dev data/datasets/math_dev.jsonl --steps 30 --outdir runs/kl
  lockedroom sweep grpo --over rollouts.group=4,8,16 \\
    --tradeoff reward:tokens --init pi0 --dataset \\
    data/datasets/math_train.jsonl --dev data/datasets/math_dev.jsonl \\
    --steps 30 --outdir runs/group`;

export function define(command: Command): void {
  addTrainOptions(command)
    .description(
      "Trains once for each value of a setting and plots the trade-off between two measures, such as validation reward and KL divergence from the initial policy.",
    )
    .requiredOption("--over <name=values>", "setting and values, separated by commas")
    .option("--tradeoff <y:x>", "the two measures of the trade-off curve", "reward:kl")
    .action(run);
}

async function run(algorithm: string, { over, tradeoff, ...flags }: Flags): Promise<void> {
  const measures = parseMeasurePair(tradeoff);
  const swept = sweptValues(over);
  const progress = new TrainingProgress(flags.quiet);
  try {
    const found = await withTrainOptions(algorithm, flags, (options) =>
      sweep({
        ...options,
        ...swept,
        tradeoff: measures,
        ...progress.listeners(
          completed(algorithmOf(algorithm), mergeSettings(options.settings, sweptSetting(swept))),
        ),
        onValue: () => progress.stop(),
      }),
    );
    progress.stop();
    if (!flags.quiet) printSweep(found, flags.outdir);
  } finally {
    progress.stop();
  }
}

function printSweep(found: SweepOutcome, outdir: string): void {
  const { over, points, files: curve } = found;
  out(`${over.padEnd(20)} validation   reward       KL  entropy  length`);
  for (const point of points) {
    const { value, pass_rate, proxy_mean, kl_exact, entropy, length_mean, stopped_by } = point;
    const figures = [pass_rate, proxy_mean, kl_exact, entropy].map((x) => x?.toFixed(4) ?? "–");
    const row = figures.map((text, i) => text.padStart(i === 0 ? 10 : 8)).join(" ");
    out(`${String(value).padEnd(20)} ${row} ${length_mean.toFixed(1).padStart(7)}`);
    if (stopped_by !== null) out(`  stopped by ${stoppedBy(stopped_by)}`);
  }
  out();
  printTradeoff(found.tradeoff);
  out();
  for (const line of identicalPolicies(found)) out(warning(line));
  const files = ["Runs", "sweep.json", ...curve];
  print(`${files.slice(0, -1).join(", ")} and ${files.at(-1)} written to ${outdir}`);
  const runs = path.join(outdir, "*/");
  // Without a trailing slash.
  const page = `${path.join(path.dirname(outdir), path.basename(outdir))}.html`;
  out(commandLines(`Next: ${program()} report`, [`--run ${runs}`, `--outfile ${page}`]));
}

function printTradeoff({ over, x, y, points }: Tradeoff): void {
  print(`Trade-off: ${y.label} (${y.better} is better) against ${x.label} (${x.better} is better)`);
  const shown = (value: number | null) =>
    value === null ? "–" : Number.isInteger(value) ? String(value) : value.toFixed(4);
  const row = (cells: readonly string[], mark: string) =>
    out(`${cells[0]?.padEnd(20)} ${cells[1]?.padStart(14)} ${cells[2]?.padStart(14)}  ${mark}`);
  row([over, y.name, x.name], "Pareto");
  for (const point of points) {
    row([String(point.value), shown(point.y), shown(point.x)], point.pareto ? "*" : "");
  }
}

/** Warns of values with identical policies, so that equal figures are not taken for a result. */
function identicalPolicies({ points, policies }: SweepOutcome): string[] {
  const values = new Map<string, SweepPoint[]>();
  for (const [i, point] of points.entries()) {
    const policy = policies[i];
    if (policy !== undefined) values.set(policy, [...(values.get(policy) ?? []), point]);
  }
  return [...values.values()]
    .filter((same) => same.length > 1)
    .map((same) => {
      const whole = same.length === points.length;
      const which = whole ? "all values" : same.map(({ value }) => String(value)).join(" and ");
      const ended = same.some(({ stopped_by }) => stopped_by !== null);
      const why = ended ? "the runs stopped early" : "the setting had no effect";
      return `${which} gave the same policy: ${why}${whole || ended ? "" : " between them"}`;
    });
}
