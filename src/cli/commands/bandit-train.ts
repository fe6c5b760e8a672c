import type { Command } from "commander";
import { ARM_NAMES, trainBandit } from "../../learn/tabular/bandit.ts";
import {
  type BanditRunOptions,
  type compareBaselines,
  runBandit,
} from "../../learn/tabular/bandit-run.ts";
import { atTerminal, withPrompt } from "../line-prompt.ts";
import {
  addRunOptions,
  finiteNumber,
  type RunFlags,
  SEED,
  STEPS,
  wholeNumber,
} from "../options.ts";
import { askSteps, printSteps } from "../slow-steps.ts";
import { bar, out, paint, printWritten, wrap } from "../terminal.ts";

type Flags = BanditRunOptions & RunFlags & { readonly slow?: boolean; readonly reveal?: boolean };

export const help = `On a terminal --slow asks for the answer of each step before it shows it.
Elsewhere, such as in a pipe, it prints the steps without the answers and
reads nothing. --reveal shows the answers.

Examples:
  lockedroom bandit-train --steps 200 --seed 0 --lr 0.5 --baseline \\
    --outdir runs/bandit
  lockedroom bandit-train --steps 30 --lr -0.5 --slow --outdir runs/slow
  lockedroom bandit-train --steps 30 --slow --reveal --outdir runs/shown
  lockedroom bandit-train --steps 200 --seeds 20 --outdir runs/seeds`;

export function define(command: Command): void {
  command
    .description(
      "Tabular experiment: REINFORCE on a softmax policy over four arms with rewards 1 or 0. Every update is logged with everything it depends on.",
    )
    .requiredOption("--steps <n>", "number of updates", STEPS)
    .option(...SEED)
    .option("--lr <x>", "learning rate; may be negative", finiteNumber, 0.5)
    .option("--baseline", "subtract the running mean of earlier rewards", false)
    .option("--slow", "step by step: asks what each update must do, then answers")
    .option("--reveal", "with --slow: show the answers and ask nothing")
    .option(
      "--seeds <k>",
      "repeat with k seeds, with and without the baseline",
      wholeNumber(2, 10_000),
    )
    .action(run);
  addRunOptions(command);
}

async function run(flags: Flags): Promise<void> {
  const { dir, summary } = await runBandit(flags);
  if (flags.quiet) return;
  if (flags.slow || flags.reveal) await showSteps(flags);
  const metrics = summary.metrics as unknown as Metrics;
  out(
    `REINFORCE on four arms: ${metrics.steps} updates, seed ${flags.seed}, lr ${flags.lr}, ${flags.baseline ? "with" : "without"} a baseline`,
  );
  out();
  for (const [i, arm] of ARM_NAMES.entries()) {
    const p = metrics.final_probabilities[i] as number;
    out(`  ${arm}  ${p.toFixed(4)}  ${bar(p, 40)}`);
  }
  out();
  out(`  expected reward  ${metrics.expected_reward.toFixed(4)}  (uniform policy: 0.5000)`);
  const colour = metrics.learning_rate === "ordinary" ? "reset" : "yellow";
  out(paint(colour, wrap(`learning rate: ${metrics.verdict}`, "  ")));
  if (metrics.seeds) printSeeds(metrics.seeds);
  out();
  printWritten(dir, summary);
}

async function showSteps(flags: Flags): Promise<void> {
  const steps = trainBandit(flags);
  if (flags.reveal || !atTerminal()) printSteps(steps, flags.lr, flags.reveal === true);
  else await withPrompt("  > ", (nextLine) => askSteps(steps, flags.lr, nextLine));
}

type SeedComparison = ReturnType<typeof compareBaselines>;

interface Metrics {
  readonly steps: number;
  readonly final_probabilities: number[];
  readonly expected_reward: number;
  readonly learning_rate: string;
  readonly verdict: string;
  readonly seeds?: SeedComparison;
}

function printSeeds(seeds: SeedComparison): void {
  const line = (label: string, { measured, exact }: SeedComparison["update_with_baseline"]) =>
    out(`  ${label}  ${measured.variance.toFixed(4)} measured, ${exact.variance.toFixed(4)} exact`);
  const vector = (v: readonly number[]) =>
    v.map((x) => (x >= 0 ? "+" : "") + x.toFixed(3)).join(" ");
  out();
  out(`Variance of one update at the start (${seeds.draws} draws):`);
  line("without baseline", seeds.update_without_baseline);
  line("with baseline   ", seeds.update_with_baseline);
  out("Mean update (A B C D):");
  out(`  without baseline  ${vector(seeds.update_without_baseline.measured.mean)}`);
  out(`  with baseline     ${vector(seeds.update_with_baseline.measured.mean)}`);
  out(`  exact, both       ${vector(seeds.update_with_baseline.exact.mean)}`);
  out(`Expected reward after training (${seeds.count} seeds: mean, sd; how many favour D):`);
  for (const [label, end] of [
    ["without baseline", seeds.training_without_baseline],
    ["with baseline   ", seeds.training_with_baseline],
  ] as const) {
    const { mean_expected_reward: mean, sd_expected_reward: sd, best_arm_favoured: best } = end;
    out(`  ${label}  ${mean.toFixed(4)}  ${sd.toFixed(4)}  ${best}`);
  }
}
