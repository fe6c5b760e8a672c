/** The bandit as a run: log, evaluation, charts, and a diagnosis of the learning rate. */

import { rngAt } from "../../core/rng.ts";
import type { FolderOptions } from "../../runs/run-folder.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import {
  ARM_NAMES,
  ARMS,
  BANDIT,
  type BanditOptions,
  type BanditStep,
  exactUpdate,
  measuredUpdate,
  trainBandit,
} from "./bandit.ts";
import { type Experiment, episodeRow, writeExperiment } from "./experiment.ts";
import { banditCharts } from "./experiment-charts.ts";
import { drawAction, entropy, expectation, softmax, type Vector } from "./softmax.ts";

export interface BanditRunOptions extends BanditOptions, FolderOptions {
  readonly outdir: string;
  /** Repeat with this many seeds, from `seed` up, with and without the baseline. */
  readonly seeds?: number | undefined;
}

/** A learning rate is called too large if one update changes a probability by more than this. */
const MAX_CHANGE = 0.25;
const EVALUATION_PULLS = 500;
const EXPECTED = ARMS.reduce((sum, p) => sum + p, 0) / ARMS.length;

/** Trains the bandit and writes a run. */
export async function runBandit(options: BanditRunOptions): Promise<FinishedRun> {
  return writeExperiment(options.outdir, () => banditExperiment(options), options);
}

/** The numbers of a run in a sentence, from its metrics. */
export function banditSentence(metrics: Readonly<Record<string, unknown>>): string {
  const { favourite_arm: arm, final_probabilities, expected_reward: expected, verdict } = metrics;
  const highest = Math.max(...(final_probabilities as Vector));
  return `favourite arm ${arm} with probability ${highest.toFixed(4)}, expected reward ${Number(expected).toFixed(4)} (uniform policy: ${EXPECTED}); ${verdict}`;
}

async function banditExperiment(options: BanditRunOptions): Promise<Experiment> {
  const log = [...trainBandit(options)];
  const logits = log.at(-1)?.logits_after ?? ARMS.map(() => 0);
  const probabilities = softmax(logits);
  const best = probabilities.indexOf(Math.max(...probabilities));
  const rate = diagnoseLearningRate(options, log);
  const seeds = options.seeds ? compareBaselines(options, options.seeds) : undefined;
  const metrics = {
    steps: log.length,
    final_probabilities: probabilities,
    final_logits: logits,
    expected_reward: expectation(probabilities, ARMS),
    entropy: entropy(probabilities),
    mean_training_reward: log.length === 0 ? null : mean(log.map(({ reward }) => reward)),
    favourite_arm: ARM_NAMES[best],
    ...rate,
    ...(seeds ? { seeds } : {}),
  };
  return {
    command: "bandit-train",
    reward: BANDIT,
    learning: {
      algorithm: "reinforce",
      lr: options.lr,
      steps: options.steps,
      seed: options.seed,
      baseline: options.baseline ? "running mean" : "none",
    },
    parameters: logits,
    rows: evaluate(probabilities),
    metrics,
    log,
    title: "REINFORCE on four arms",
    happened: banditSentence(metrics),
    remarks: [
      ...remarks(probabilities, rate),
      ...(seeds ? seedRemarks(seeds) : []),
      ...(log.length > 0 ? ["![probabilities](probabilities.svg)", "![reward](reward.svg)"] : []),
    ],
    files: await banditCharts(log),
  };
}

/** Evaluates the final policy with fixed seeds, so that runs can be compared row by row. */
function* evaluate(probabilities: Vector) {
  for (let pull = 1; pull <= EVALUATION_PULLS; pull++) {
    const arm = drawAction(probabilities, rngAt("bandit evaluation", pull, "action"));
    const reward =
      rngAt("bandit evaluation", pull, "reward", arm).next() < (ARMS[arm] as number) ? 1 : 0;
    const id = `pull-${String(pull).padStart(3, "0")}`;
    yield episodeRow(id, "Pull one arm: A, B, C or D.", "D", ARM_NAMES[arm] as string, reward, {});
  }
}

interface LearningRateDiagnosis {
  readonly learning_rate: "ordinary" | "inverted" | "too large" | "zero" | "diverged";
  /** The largest change of any probability in one update. */
  readonly largest_move: number;
  readonly verdict: string;
}

export function diagnoseLearningRate(
  { lr, steps }: BanditOptions,
  log: readonly BanditStep[],
): LearningRateDiagnosis {
  const move = largestMove(log);
  const size = move.toFixed(2);
  const diagnoses: [boolean, LearningRateDiagnosis["learning_rate"], string][] = [
    [log.length < steps, "diverged", `the logits were no longer finite after step ${log.length}`],
    [lr < 0, "inverted", "a negative learning rate descends: rewarded actions become less likely"],
    [lr === 0, "zero", "nothing is learned"],
    [move > MAX_CHANGE, "too large", `one update changed a probability by ${size}`],
    [true, "ordinary", `no update changed a probability by more than ${size}`],
  ];
  const [, name, why] = diagnoses.find(([applies]) => applies) as (typeof diagnoses)[number];
  return { learning_rate: name, largest_move: move, verdict: `${name}: ${why}` };
}

function largestMove(log: readonly BanditStep[]): number {
  let largest = 0;
  for (const { probabilities_before: before, logits_after: logits } of log) {
    const after = softmax(logits);
    for (const [i, p] of before.entries())
      largest = Math.max(largest, Math.abs((after[i] as number) - p));
  }
  return largest;
}

const BEST_ARM = ARMS.indexOf(Math.max(...ARMS));

/** Draws per seed for the variance of one update. */
const DRAWS_PER_SEED = 100;

/**
 * The variance of one update at the initial policy, and the results of complete training runs, with
 * and without a baseline, on the same draws.
 */
export function compareBaselines(options: BanditOptions, seeds: number) {
  const start = softmax(ARMS.map(() => 0));
  const draws = seeds * DRAWS_PER_SEED;
  const measure = (baseline: number) => ({
    baseline,
    measured: measuredUpdate(start, baseline, options.seed, draws),
    exact: exactUpdate(start, baseline),
  });
  const train = (baseline: boolean) => {
    const ends = Array.from({ length: seeds }, (_, k) => {
      const log = [...trainBandit({ ...options, seed: options.seed + k, baseline })];
      return softmax(log.at(-1)?.logits_after ?? ARMS.map(() => 0));
    });
    const rewards = ends.map((probabilities) => expectation(probabilities, ARMS));
    return {
      mean_expected_reward: mean(rewards),
      sd_expected_reward: Math.sqrt(variance(rewards)),
      /** Seeds after which the best arm is the most likely one. */
      best_arm_favoured: ends.filter((p) => p.indexOf(Math.max(...p)) === BEST_ARM).length,
    };
  };
  const [without, with_] = [measure(0), measure(expectation(start, ARMS))];
  return {
    count: seeds,
    draws,
    update_without_baseline: without,
    update_with_baseline: with_,
    variance_ratio: with_.measured.variance / without.measured.variance,
    training_without_baseline: train(false),
    training_with_baseline: train(true),
  };
}

type SeedComparison = ReturnType<typeof compareBaselines>;

function remarks(probabilities: Vector, { verdict }: LearningRateDiagnosis): string[] {
  const final = ARM_NAMES.map((arm, i) => `${arm} ${probabilities[i]?.toFixed(4)}`).join(", ");
  return [`- Final probabilities: ${final}.`, `- Learning rate: ${verdict}.`];
}

function seedRemarks(seeds: SeedComparison): string[] {
  const { update_without_baseline: without, update_with_baseline: with_ } = seeds;
  const vector = (v: Vector) => `(${v.map((x) => x.toFixed(3)).join(", ")})`;
  return [
    `- Variance of one update over ${seeds.draws} draws: ${without.measured.variance.toFixed(4)} without a baseline (exactly ${without.exact.variance.toFixed(4)}), ${with_.measured.variance.toFixed(4)} with (exactly ${with_.exact.variance.toFixed(4)}).`,
    `- Mean direction: ${vector(without.measured.mean)} without, ${vector(with_.measured.mean)} with; exactly ${vector(without.exact.mean)} in both cases. A baseline changes the variance, not the mean.`,
    `- Expected reward after training, over ${seeds.count} seeds: ${meanAndSd(seeds.training_without_baseline)} without, ${meanAndSd(seeds.training_with_baseline)} with.`,
  ];
}

function meanAndSd({
  mean_expected_reward: m,
  sd_expected_reward: sd,
  best_arm_favoured: best,
}: SeedComparison["training_with_baseline"]): string {
  return `${m.toFixed(4)} (sd ${sd.toFixed(4)}, arm ${ARM_NAMES[BEST_ARM]} most likely after ${best})`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function variance(values: readonly number[]): number {
  const m = mean(values);
  return values.reduce((sum, value) => sum + (value - m) ** 2, 0) / Math.max(1, values.length - 1);
}
