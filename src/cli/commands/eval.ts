import type { Command } from "commander";
import type { Axis } from "../../loops/axes.ts";
import { evaluate } from "../../loops/eval.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { warnings } from "../../runs/summary-text.ts";
import { axes, axisTable } from "../axis-text.ts";
import { explained } from "../data-kind.ts";
import { changedCodeText, printEpisodeTable, replayedText } from "../episode-text.ts";
import { addRunOptions, EXAMPLES, repeated, wholeNumber } from "../options.ts";
import { addScorerOptions, JOBS, type ScoringFlags, withScoring } from "../scoring.ts";
import { sliceTable } from "../slice-text.ts";
import { POLICY_NAME, policyName, SAMPLING } from "../stated.ts";
import { bar, out, paint, percent, print, printWritten, program, warning } from "../terminal.ts";
import {
  ENV,
  refuseBeside,
  requireScored,
  TRAJECTORIES,
  type TrajectoryFlags,
  withTrajectories,
} from "../trajectory-options.ts";

interface Flags extends Omit<ScoringFlags, "dataset">, TrajectoryFlags {
  readonly dataset?: string;
  readonly completions?: string;
  readonly maxExamples?: number;
  readonly slice?: string[];
  readonly axis?: readonly Axis[];
  readonly repeats?: number;
  readonly policy?: string;
  readonly sampling?: Record<string, number>;
}

export const help = `--policy and --sampling describe completions from elsewhere, which have no
provenance file. The gate compares them like those of a rollout: top_p, top_k,
stop and penalties that are left out count as off, and so does a system prompt.
--slice takes a field of the examples, also one within another, such as
metadata.topic. --axis measures a second scorer on every row, and the gate asks
that none of them falls: --axis safety is the embedded axis of that name, --axis
polite=polite.ts a scorer of your own, --axis all every embedded axis (format,
hallucination, refusal, reward-hacking, safety, verbosity).
--repeats takes packs of samples, such as samples.jsonl of
rollout --n 4; intervals and the gate then count examples, not samples.
--trajectories plays the episodes of rollout --env again in their environment
and refuses a file that says anything else than the environment does. A task
passes where its outcome code is one of a solved task. Several episodes of a
task count like --repeats, and an axis scores what the policy wrote.

Examples:
  lockedroom eval --dataset data/datasets/math_dev.jsonl \\
    --completions data/rollouts/frozen_rollouts_dev.jsonl --outdir runs/first
  lockedroom eval --dataset d.jsonl --completions c.jsonl --outdir runs/mine \\
    --scorer my-scorer.ts --jobs 2
  lockedroom eval --dataset d.jsonl --completions c.jsonl --outdir runs/mine \\
    --policy my-model-v2 --sampling temperature=0.7,top_p=1,seed=3
  lockedroom eval --trajectories runs/games --outdir runs/games-scored`;

export function define(command: Command): void {
  command
    .description(
      "Scores one completion of each example, or several (--repeats), and writes a run (Loop A).",
    )
    .option(...EXAMPLES)
    .option(
      "--completions <file>",
      "completions, JSONL: id, completion; with --repeats: id, samples",
    )
    .addOption(TRAJECTORIES)
    .addOption(ENV)
    .option("--max-examples <n>", "use only the first n examples", wholeNumber(1))
    .option("--slice <field>", "report each value of this field apart; repeatable", repeated)
    .option("--axis <name[=scorer]>", "also measure this scorer on every row; repeatable", axes)
    .option("--repeats <k>", "score k samples of each example (packs)", wholeNumber(2, 100_000))
    .option("--policy <name>", POLICY_NAME, policyName)
    .addOption(SAMPLING)
    .addOption(JOBS)
    .action(run);
  addScorerOptions(command);
  addRunOptions(command);
}

async function run(flags: Flags): Promise<void> {
  const { trajectories, dataset, completions } = flags;
  if (trajectories !== undefined) return replay({ ...flags, trajectories });
  requireScored("eval", { ...flags }, "completions");
  return score({ ...flags, dataset: dataset as string, completions: completions as string });
}

async function replay(flags: Flags & { readonly trajectories: string }): Promise<void> {
  refuseBeside({ ...flags }, ["dataset", "completions", "scorer", "repeats", "maxExamples"]);
  const { trajectories, outdir, force, slice, policy, sampling } = flags;
  // Loaded lazily: a scored file does not need it.
  const { evaluateTrajectories } = await import("../../loops/eval-trajectories.ts");
  const outcome = await withTrajectories(flags, (environment, onBytes) =>
    evaluateTrajectories({
      ...{ trajectories, environment, outdir, force, slice, onBytes },
      ...{ axes: flags.axis, timeoutMs: flags.scorerTimeout, stated: { policy, sampling } },
    }),
  );
  if (!flags.quiet) printOutcome(outcome);
}

async function score(
  flags: Flags & { readonly dataset: string; readonly completions: string },
): Promise<void> {
  const { policy, sampling } = flags;
  const outcome = await withScoring(flags, flags.completions, (scorer, onBytes) =>
    evaluate({
      ...flags,
      axes: flags.axis,
      timeoutMs: flags.scorerTimeout,
      scorer,
      onBytes,
      stated: { policy, sampling },
    }),
  ).catch((error) => {
    throw explained(error, {
      ...{ file: flags.completions, wanted: "completions", who: "eval scores" },
      instead: {
        packs: `Use eval --repeats K for K samples of each example, or selection-demo --samples ${flags.completions}.`,
        trajectories: `Use eval --trajectories ${flags.completions}.`,
      },
    });
  });
  if (!flags.quiet) printOutcome(outcome);
}

function meanInterval({ mean_reward_ci95: ci }: FinishedRun["summary"]["metrics"]): string {
  return ci ? `  95 % interval ${ci[0].toFixed(3)} to ${ci[1].toFixed(3)}` : "";
}

function scoredText({ metrics, scorer }: FinishedRun["summary"]): string {
  const { repeats } = metrics;
  const what = repeats
    ? `${metrics.n_examples / repeats} examples, ${repeats} samples of each,`
    : `${metrics.n_examples} examples`;
  return `Scored ${what} with ${scorer.name} ${scorer.version}.`;
}

export function printOutcome({ dir, manifest, summary }: FinishedRun): void {
  const { metrics, outcomes } = summary;
  print(manifest.environment ? replayedText(manifest, summary) : scoredText(summary));
  for (const text of changedCodeText(manifest)) out(warning(text));
  for (const text of warnings(summary)) out(warning(text));
  out();
  if (metrics.pass_rate === null || metrics.pass_rate_ci95 === null)
    out("  pass rate    undefined: nothing was scored");
  else {
    const [low, high] = metrics.pass_rate_ci95;
    out(
      `  pass rate    ${paint("bold", metrics.pass_rate.toFixed(4))}  ${metrics.n_pass} of ${metrics.n_scored}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`,
    );
    out(`  mean reward  ${metrics.mean_reward?.toFixed(4)}${meanInterval(metrics)}`);
    if (metrics.mean_reward_ci95)
      out("\n  Rewards are graded: gate and compare use the mean reward.");
  }
  out();
  for (const [code, count] of Object.entries(outcomes.counts).sort((a, b) => b[1] - a[1])) {
    const share = count / metrics.n_examples;
    out(
      `  ${code.padEnd(25)} ${String(count).padStart(6)} ${percent(share).padStart(7)} ${bar(share)}`,
    );
  }
  printEpisodeTable(summary);
  for (const line of sliceTable(summary.slices, metrics)) out(line);
  for (const line of axisTable(summary)) out(line);
  out();
  printWritten(dir, summary);
  out(`Next: ${program()} inspect-run --run ${dir} --only-fails`);
}
