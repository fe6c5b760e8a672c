import { type Command, Option } from "commander";
import type { Axis } from "../../loops/axes.ts";
import { RULES, type RuleName } from "../../loops/decide.ts";
import { select } from "../../loops/select.ts";
import {
  builtInPolicy,
  loadSelectionPolicy,
  type SelectionPolicy,
} from "../../loops/selection-policy.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { warnings } from "../../runs/summary-text.ts";
import { axes, axisTable } from "../axis-text.ts";
import { changedCodeText, printEpisodeTable } from "../episode-text.ts";
import { addRunOptions, EXAMPLES, repeated, wholeNumber } from "../options.ts";
import { addScorerOptions, JOBS, policyHere, type ScoringFlags, withScoring } from "../scoring.ts";
import { sliceTable } from "../slice-text.ts";
import { POLICY_NAME, policyName, SAMPLING } from "../stated.ts";
import { bar, out, paint, print, printWritten, program, warning } from "../terminal.ts";
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
  readonly samples?: string;
  readonly n: number;
  readonly policy?: string;
  readonly rule?: RuleName;
  readonly policyName?: string;
  readonly sampling?: Record<string, number>;
  readonly slice?: string[];
  readonly axis?: readonly Axis[];
}

export const help = `A policy file exports one of:
  tieBreakKey(sample)                 numbers and strings; the smallest key wins
  pickBest(example, samples, score)   returns the chosen sample
A sample has completion, sum_logprob (or null), reward, code, details, index.
--policy-name and --sampling describe samples from elsewhere, which have no
provenance file. The gate compares them like those of a rollout.
--trajectories selects among the episodes of each task (rollout --env --n 4).

Examples:
  lockedroom selection-demo --dataset data/datasets/math_dev.jsonl \\
    --samples data/rollouts/selection_pack_dev.jsonl --n 4 --outdir runs/best4
  lockedroom selection-demo --dataset d.jsonl --samples p.jsonl --n 8 \\
    --outdir runs/mine --policy selection_policy.ts
  lockedroom selection-demo --dataset d.jsonl --samples p.jsonl --n 8 \\
    --outdir runs/mine --policy-name my-model-v2 --sampling temperature=0.7
  lockedroom selection-demo --trajectories runs/games --n 4 --outdir runs/best`;

export function define(command: Command): void {
  command
    .description(
      "Scores all samples, selects one of the first n per example (best-of-n), and writes a run (Loop B). The policy does not change.",
    )
    .option(...EXAMPLES)
    .option("--samples <file>", "samples, JSONL: id, samples")
    .addOption(TRAJECTORIES)
    .addOption(ENV)
    .requiredOption("--n <n>", "select from the first n samples", wholeNumber(1))
    .option(
      "--policy <file>",
      "a .ts or .js file that exports tieBreakKey(sample) or pickBest(example, samples, score)",
    )
    .addOption(
      new Option(
        "--rule <rule>",
        "selection rule (default: the workspace's policy, otherwise best)",
      )
        .choices(Object.keys(RULES))
        .conflicts("policy"),
    )
    .option("--slice <field>", "report each value of this field apart; repeatable", repeated)
    .option("--axis <name[=scorer]>", "also measure this scorer on what is selected", axes)
    .option("--policy-name <name>", POLICY_NAME, policyName)
    .addOption(SAMPLING)
    .addOption(JOBS)
    .action(run);
  addScorerOptions(command);
  addRunOptions(command);
}

async function run(flags: Flags): Promise<void> {
  const { trajectories, dataset, samples } = flags;
  if (trajectories === undefined) requireScored("selection-demo", { ...flags }, "samples");
  const file = flags.policy ?? (flags.rule ? undefined : await policyHere());
  const policy = file ? await loadSelectionPolicy(file) : builtInPolicy(flags.rule);
  const outcome =
    trajectories === undefined
      ? await fromSamples({ ...flags, dataset: dataset as string }, samples as string, policy)
      : await fromEpisodes({ ...flags, trajectories }, policy);
  if (!flags.quiet) printSelection(outcome);
}

function fromSamples(
  flags: Flags & { readonly dataset: string },
  samples: string,
  policy: SelectionPolicy,
): Promise<FinishedRun> {
  const { sampling } = flags;
  return withScoring(flags, samples, (scorer, onBytes) =>
    select({
      ...{ ...flags, samples },
      axes: flags.axis,
      timeoutMs: flags.scorerTimeout,
      scorer,
      policy,
      onBytes,
      stated: { policy: flags.policyName, sampling },
    }),
  );
}

async function fromEpisodes(
  flags: Flags & { readonly trajectories: string },
  policy: SelectionPolicy,
): Promise<FinishedRun> {
  refuseBeside({ ...flags }, ["dataset", "samples", "scorer"]);
  const { trajectories, outdir, force, n, slice, sampling } = flags;
  // Loaded lazily: a pack does not need it.
  const { selectTrajectories } = await import("../../loops/select-trajectories.ts");
  return withTrajectories(flags, (environment, onBytes) =>
    selectTrajectories({
      ...{ trajectories, environment, outdir, force, n, slice, onBytes, policy },
      ...{ axes: flags.axis, timeoutMs: flags.scorerTimeout },
      stated: { policy: flags.policyName, sampling },
    }),
  );
}

export function printSelection({ dir, manifest, summary }: FinishedRun): void {
  const { metrics } = summary;
  const { pass_at_1: first, pass_at_n: chosen, rescued = 0, lost = 0 } = metrics;
  const n = Number(manifest.selection?.n);
  const [one, all] = manifest.environment ? ["episode", "tasks"] : ["sample", "examples"];
  const some = n === 1 ? one : `${n} ${one}s`;
  out(
    `Selected from the first ${some} of ${metrics.n_examples} ${all}, by ${manifest.selection?.rule}.`,
  );
  for (const text of changedCodeText(manifest)) out(warning(text));
  for (const text of warnings(summary)) out(warning(text));
  if (metrics.n_short_packs)
    out(`  ${metrics.n_short_packs} examples have fewer than ${n} samples.`);
  if (metrics.n_empty_packs) out(`  ${metrics.n_empty_packs} examples have no samples.`);
  out();
  if (typeof first !== "number" || typeof chosen !== "number") {
    out("Nothing was scored.");
  } else {
    out(`  first sample   ${first.toFixed(4)}   pass@1 without selection: the first sample alone`);
    out(`  selected       ${paint("bold", chosen.toFixed(4))}   ${rescued} rescued, ${lost} lost`);
    out();
    out("  pass@k (unbiased): probability that at least one of k samples passes.");
    out("  At k = 1 it is the mean over all samples, not only the first: the same");
    out("  quantity, estimated from more draws.");
    for (const { k, value } of shownPoints(metrics.pass_at_k ?? [])) {
      out(`  ${String(k).padStart(5)}  ${value.toFixed(4)}  ${bar(value, 40)}`);
    }
    out();
    print("This is selection, not learning: the policy that drew the samples has not changed.");
  }
  printEpisodeTable(summary);
  for (const line of sliceTable(summary.slices)) out(line);
  for (const line of axisTable(summary)) out(line);
  if (summary.slices || summary.axes || summary.episodes) out();
  printWritten(dir, summary);
  if (metrics.n_scorer_error > 0) out(`Next: ${program()} inspect-run --run ${dir}`);
}

/** All k up to 8, powers of two beyond. */
function shownPoints<T extends { k: number }>(points: readonly T[]): readonly T[] {
  if (points.length <= 8) return points;
  return points.filter(({ k }) => (k & (k - 1)) === 0 || k === points.length);
}
