import { type Command, Option } from "commander";
import { runTwoStep, type TwoStepRunOptions } from "../../learn/tabular/two-step-run.ts";
import { addRunOptions, finiteNumber, type RunFlags, SEED, STEPS } from "../options.ts";
import { bar, out, print, printWritten } from "../terminal.ts";

type Flags = TwoStepRunOptions & RunFlags;

export const help = `Examples:
  lockedroom two-step-mdp --steps 200 --seed 0 --baseline --outdir runs/two_step
  lockedroom two-step-mdp --steps 200 --credit last --outdir runs/no_credit`;

export function define(command: Command): void {
  command
    .description("Tabular experiment on credit assignment: two decisions, one reward at the end.")
    .requiredOption("--steps <n>", "episodes, one update each", STEPS)
    .option(...SEED)
    .option("--lr <x>", "learning rate", finiteNumber, 0.5)
    .option("--baseline", "subtract the running mean of earlier rewards", false)
    .addOption(
      new Option("--credit <which>", "decisions that get the reward")
        .choices(["both", "last"])
        .default("both"),
    )
    .action(run);
  addRunOptions(command);
}

interface Metrics {
  readonly first_probabilities: [number, number];
  readonly second_probabilities: [[number, number], [number, number]];
  readonly expected_reward: number;
  readonly first_decision_learned: boolean;
  readonly verdict: string;
}

async function run(flags: Flags): Promise<void> {
  const { dir, summary } = await runTwoStep(flags);
  if (flags.quiet) return;
  const {
    first_probabilities: first,
    second_probabilities: second,
    ...metrics
  } = summary.metrics as unknown as Metrics;
  out(
    `Two decisions, one reward: ${flags.steps} episodes, credit for ${flags.credit === "both" ? "both decisions" : "the last decision only"}`,
  );
  out();
  line("first   B over A       ", first[1]);
  line("second  Y over X after A", second[0][1]);
  line("second  Y over X after B", second[1][1]);
  out();
  out(
    `  expected reward  ${metrics.expected_reward.toFixed(4)}  (optimal policy: 0.9000, initial policy: 0.3750)`,
  );
  print(`${metrics.verdict}.`, "  ");
  if (flags.credit === "last" && flags.steps > 0) {
    print("Only the last decision was credited, but the first one determines the reward.", "  ");
  }
  out();
  printWritten(dir, summary);
}

function line(label: string, probability: number): void {
  out(`  ${label.padEnd(24)}  ${probability.toFixed(4)}  ${bar(probability, 30)}`);
}
