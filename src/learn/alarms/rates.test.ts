/**
 * False-alarm rates: simulated runs with nothing wrong, and runs with one thing wrong.
 * A simulated policy has a chance of passing each example, and everything is drawn from that.
 */

import { describe, expect, test } from "vitest";
import { type Rng, rngAt } from "../../core/rng.ts";
import type { EvaluationRecord, StepRecord } from "../../runs/train-records.ts";
import { LIMITS, raisedBy } from "./index.ts";

const STEPS = 100;
const EVERY = 5;

type Curve = (step: number) => number;

interface Run {
  /** The share of passes in training, and in validation where that differs. */
  readonly trains: Curve;
  readonly validates?: Curve;
  /** What the scorers that reward say of the validation set. */
  readonly proxy?: Curve;
  /** How far the policy wanders to and fro, in logits. */
  readonly wander?: number;
  /** Nats per token. */
  readonly entropy?: Curve;
  /** The chance that all answers to a prompt are the same text. */
  readonly copies?: Curve;
  /** Of the validation set. */
  readonly examples?: number;
  /** In place of the metrics of rewards. */
  readonly loss?: Curve;
  /** The KL where it is estimated from a share of the rows. */
  readonly kl?: { readonly level: Curve; readonly rows: number };
}

const logit = (p: number) => Math.log(p / (1 - p));
const chance = (x: number) => 1 / (1 + Math.exp(-x));
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const normal = (rng: Rng) =>
  Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());

/** Eight answers to each of eight prompts, some of which are harder than others. */
function stepOf(step: number, run: Run, drift: number, rng: Rng): StepRecord {
  const noise = (size: number) => Math.exp(size * normal(rng));
  const common = {
    ...{ step, gradient_norm: noise(0.3), learning_rate: 1e-5 },
    entropy: entropyOf(run, step) * noise(0.05),
    "length/mean": (40 + (15 * step) / STEPS) * noise(0.08),
    "length/truncated": 0.02 * noise(0.5),
    "kl/k3": (0.001 * step + 0.01) * noise(0.5),
    ...(run.kl && { "kl/k3": run.kl.level(step) * fewRows(rng), "kl/rows": run.kl.rows }),
    "check/logprob_gap": 1e-5 * noise(0.5),
    "check/sampling_gap": 1e-6 * normal(rng),
    "check/reference_gap": 1e-3 * (step - 1),
    repeated: 0.1 * noise(0.2),
  };
  if (run.loss) return { ...common, loss: run.loss(step) * noise(0.1) };
  const groups = Array.from({ length: 8 }, () => {
    const p = chance(logit(run.trains(step)) + drift + 1.5 * normal(rng));
    const draw = () => Number(rng.next() < p);
    if (run.copies && rng.next() < run.copies(step)) return Array<number>(8).fill(draw());
    return Array.from({ length: 8 }, draw);
  });
  const reward = mean(groups.flat());
  return {
    ...{ ...common, loss: 1e-3 * normal(rng) },
    "reward/mean": reward,
    "reward/std": Math.sqrt(reward * (1 - reward)),
    "reward/max": Math.max(...groups.flat()),
    "reward/zero_std_groups": groups.filter((group) => new Set(group).size === 1).length / 8,
  };
}

/** An estimate from 8 of 64 rows, relative to all of them, as measured: low as a rule, at times high. */
const fewRows = (rng: Rng) => Math.exp(-0.76 + 1.8 * normal(rng));

function entropyOf({ entropy }: Run, step: number): number {
  return entropy ? entropy(step) : 0.6 - (0.3 * step) / STEPS;
}

function evaluationOf(step: number, run: Run, drift: number, seed: number): EvaluationRecord {
  const { examples = 200, trains, validates = trains } = run;
  const noise = rngAt("luck", seed, step);
  const hardness = rngAt("hardness", seed);
  const level = logit(validates(step)) + drift;
  const rewards = Array.from({ length: examples }, () =>
    Number(noise.next() < chance(level + 1.5 * normal(hardness))),
  );
  const reward = mean(rewards);
  return {
    ...{ step, examples, pass_rate: reward, reward_mean: reward, rewards },
    proxy_mean: run.proxy ? run.proxy(step) + 0.02 * normal(noise) : reward,
    ...{ kl_exact: 0.001 * step, length_mean: 40, truncated: 0.02, repeated: 0.1 },
    entropy: entropyOf(run, step),
    outcomes: { correct: reward * examples, wrong: (1 - reward) * examples },
  };
}

/** The step at which each alarm was raised. */
function alarmsOf(run: Run, seed: number): Map<string, number> {
  const rng = rngAt("run", seed);
  const steps: StepRecord[] = [];
  const evaluations = [evaluationOf(0, run, 0, seed)];
  const raised = new Map<string, number>();
  let drift = 0;
  for (let step = 1; step <= STEPS; step++) {
    drift = 0.9 * drift + Math.sqrt(1 - 0.9 ** 2) * (run.wander ?? 0.1) * normal(rng);
    steps.push(stepOf(step, run, drift, rng));
    if (step % EVERY === 0) evaluations.push(evaluationOf(step, run, drift, seed));
    const history = { steps, evaluations, facts: { usesReference: true, maxTokens: 256 } };
    for (const { alarm } of raisedBy(history, LIMITS, new Set(raised.keys())))
      raised.set(alarm, step);
  }
  return raised;
}

const line = (from: number, to: number, start = 0, end = STEPS): Curve => {
  return (step) => from + (to - from) * Math.min(1, Math.max(0, (step - start) / (end - start)));
};
const rising: Curve = (step) => 0.85 - 0.55 * Math.exp(-step / 40);
const HEALTHY: Readonly<Record<string, Run>> = {
  learns: { trains: rising },
  "with 50 examples": { trains: rising, examples: 50 },
  "with 1000 examples": { trains: rising, examples: 1000 },
  slowly: { trains: line(0.5, 0.57) },
  "not at all": { trains: () => 0.4, wander: 0 },
  "takes off late": { trains: (step) => 0.2 + 0.6 * chance((step - 50) / 8) },
  "another scorer": { trains: rising, validates: line(0.3, 0.6), proxy: rising },
  "from texts": { trains: rising, loss: (step) => 0.5 + 2 * Math.exp(-step / 30) },
  "from texts, slowly": { trains: line(0.5, 0.55), loss: line(0.7, 0.68) },
};

/** As in recipes/grpo, where the entropy falls to a tenth while pass@1 rises by 0.43. */
const sharpening: Curve = (step) => 0.5 * (0.1 + 0.9 * Math.exp(-step / 25));

/** As healthy, but most of the entropy goes with what is unlearned. */
const SURE: Readonly<Record<string, Run>> = {
  learns: { trains: rising, entropy: sharpening },
  "takes off late": { ...HEALTHY["takes off late"], entropy: sharpening } as Run,
  "solves it": { trains: line(0.3, 0.97, 0, 60), entropy: sharpening },
};

/** Raised rightly by runs that solve their task: nothing is left to learn. */
const NOTES_OF_SUCCESS = new Set(["zero_gradient"]);

function rateOf(runs: readonly Run[], each: number): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const [i, run] of runs.entries()) {
    for (let seed = 0; seed < each; seed++) {
      const raised = alarmsOf(run, i * 1e6 + seed);
      for (const alarm of raised.keys()) count(alarm);
      if (raised.size > 0) count("any");
      if ([...raised.keys()].some((alarm) => !NOTES_OF_SUCCESS.has(alarm))) count("other");
    }
  }
  return counts;
}

/**
 * Measured once with 1000 runs of each kind: 100 of 9000 raised an alarm, 1.1 %, and 35, 0.4 %, one that
 * stops the run. By alarm: reward_jump 44, validation_falls 33, converged 13, zero_gradient 8,
 * learning_backwards and reward_hacking 1 each. The worst kinds were "takes off late" with 21 of 1000,
 * most of them reward_jump, and "from texts, slowly" with 18, all validation_falls.
 * Runs five times as long, of 101 evaluations, that improve slowly were stopped in 3 of 200.
 *
 * The others were never raised, which says little: logprob_mismatch, sampling_mismatch,
 * reference_aliased, repeated_outputs, entropy_collapse, length_drift and kl_over_limit look at figures
 * that are drawn well within their limits here; no scorer breaks (scorer_failures), no validation set
 * passes as a whole (perfect_score), and nobody asks for a plateau.
 */
test("nine kinds of healthy runs that keep half of their entropy: fewer than 2 in 100 raise any alarm", () => {
  const counts = rateOf(Object.values(HEALTHY), 25);
  expect(counts.get("any") ?? 0, JSON.stringify([...counts])).toBeLessThanOrEqual(4);
});

/**
 * A policy that gets better loses entropy, and is not told that it collapses. Those that solve the task
 * are told that rewards have become equal (zero_gradient).
 */
test("healthy runs that keep a tenth of it: no entropy_collapse, and fewer than 2 in 100 anything else", () => {
  const { "solves it": solves, ...learn } = SURE;
  const learning = rateOf(Object.values(learn), 25);
  const solving = rateOf(solves ? [solves] : [], 25);
  expect(learning.get("entropy_collapse") ?? 0, JSON.stringify([...learning])).toBe(0);
  expect(solving.get("entropy_collapse") ?? 0, JSON.stringify([...solving])).toBe(0);
  expect(solving.get("zero_gradient"), JSON.stringify([...solving])).toBeGreaterThan(12);
  const others = (learning.get("other") ?? 0) + (solving.get("other") ?? 0);
  expect(others, JSON.stringify([...learning, ...solving])).toBeLessThanOrEqual(3);
});

/**
 * Measured once with 1000 runs each: 3 of those at 0.3 raised the alarm, and 999 of those at 2. With the
 * median of 5 steps, as where all rows are compared, 560 of those at 0.3 did.
 */
test("a KL from 8 rows a step is told of well above the limit, and seldom below it", () => {
  const told = (level: Curve) =>
    Array.from({ length: 25 }, (_, seed) =>
      alarmsOf({ trains: rising, kl: { level, rows: 8 } }, seed).get("kl_over_limit"),
    ).filter((step) => step !== undefined).length;
  expect(told(() => 0.3)).toBeLessThanOrEqual(1);
  expect(told(() => 2)).toBeGreaterThanOrEqual(24);
});

/** A run with one thing wrong, and the step by which 19 of 20 have raised the alarm. */
const SICK: readonly (readonly [name: string, alarm: string, by: number, run: Run])[] = [
  [
    "reward rises, validation falls from step 30 on, and its own scorer likes it",
    "reward_hacking",
    85,
    {
      trains: line(0.5, 0.9),
      validates: (step) => line(0.5, 0.6, 0, 30)(step) - line(0, 0.3, 30, 80)(step),
      proxy: line(0.5, 0.9),
    },
  ],
  [
    "the policy is spoiled from step 20 on",
    "validation_falls",
    70,
    { trains: line(0.6, 0.3, 20, 60) },
  ],
  ["the wrong sign, fast", "learning_backwards", 35, { trains: line(0.5, 0.05, 0, 20) }],
  ["the wrong sign, to nothing", "learning_backwards", 30, { trains: line(0.35, 1e-4, 0, 6) }],
  ["the wrong sign, slow", "learning_backwards", 60, { trains: line(0.5, 0.1, 0, 50) }],
  [
    "a loss that rises",
    "learning_backwards",
    50,
    { trains: line(0.5, 0.3), loss: line(0.69, 3, 0, 40) },
  ],
  [
    "the reward rises at first, then all answers to a prompt are the same",
    "entropy_collapse",
    40,
    {
      trains: line(0.3, 0.5, 0, 30),
      entropy: (step) => 0.5 * (0.01 + 0.99 * Math.exp(-step / 15)),
      copies: line(0, 1, 0, 50),
    },
  ],
];

describe("sick runs", () => {
  test.each(SICK)("%s: %s by step %i", (_, alarm, by, run) => {
    const steps = Array.from({ length: 20 }, (_, seed) => alarmsOf(run, seed).get(alarm));
    const inTime = steps.filter((step) => step !== undefined && step <= by);
    expect(inTime.length, String(steps)).toBeGreaterThanOrEqual(19);
  });

  test("a leap from 30 % to 85 %: two of three are told within three steps", () => {
    const run: Run = { trains: (step) => (step < 50 ? 0.3 : 0.85) };
    const steps = Array.from({ length: 20 }, (_, seed) => alarmsOf(run, seed).get("reward_jump"));
    expect(steps.filter((step) => step === 52).length, String(steps)).toBeGreaterThanOrEqual(13);
  });
});
