/**
 * Eight optimiser steps of each method give the losses and gradient norms that TRL gave on the same rows
 * from the same weights. `npm run trl-parity` makes the fixture anew; no Python is needed here.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { completionRow } from "../src/core/token-row.ts";
import type { UpdateResult } from "../src/engine/engine.ts";
import { LocalEngine, type LocalEngineOptions } from "../src/engine/local-engine.ts";
import type { TrainingRow } from "../src/engine/loss.ts";
import { algorithmOf } from "../src/learn/algorithms/index.ts";
import { type TrainSettings, trainSettings } from "../src/learn/settings.ts";
import type { Batch } from "../src/learn/source.ts";
import { HeldOutPrompts } from "../src/learn/sources/held-out.ts";
import { readTrainingData } from "../src/learn/sources/index.ts";
import { lossCallOf, updateOn } from "../src/learn/update.ts";
import { loadCheckpoint } from "../src/policy/checkpoint.ts";

interface Measured {
  readonly losses: readonly number[];
  readonly gradient_norms: readonly number[];
}

type Case = Measured &
  (
    | { readonly method: "sft" | "dpo" | "ipo" | "kto" }
    | {
        readonly method: "grpo";
        readonly loss_type: "dapo" | "grpo" | "dr_grpo" | "bnpo";
        /** Of the KL penalty. */
        readonly beta: number;
        /** Of the probability ratio. */
        readonly level: "token" | "sequence";
      }
  );

interface Rollout {
  readonly prompt: string;
  readonly completion: string;
  readonly advantage: number;
  readonly old: readonly number[];
  readonly reference: readonly number[];
}

const FOLDER = fileURLToPath(new URL("fixtures/trl-parity", import.meta.url));
const inFolder = (name: string) => path.join(FOLDER, name);
const FILES = { sft: "texts", dpo: "pairs", ipo: "pairs", kto: "labels" } as const;
const { settings: given, cases } = JSON.parse(readFileSync(inFolder("trl.json"), "utf8")) as {
  readonly settings: {
    readonly steps: number;
    readonly learning_rate: number;
    readonly beta: number;
    readonly adam: TrainSettings["adam"];
    readonly clip: number;
    readonly max_tokens: number;
  };
  readonly cases: readonly Case[];
};
const ROWS = 16;

/** Ways of computing the same update; each runs every case. */
const WAYS: readonly { readonly way: string; readonly engine: LocalEngineOptions }[] = [
  { way: "packed", engine: { threads: 1 } },
  { way: "unpacked", engine: { threads: 1, unpacked: true } },
];

const start = await loadCheckpoint(inFolder("start"));

/**
 * Relative to the largest number of the case, because a loss of GRPO is a difference that may be near 0.
 * Measured: at most 3e-6.
 */
const TOLERANCE = 1e-5;

describe.each(WAYS)("computed $way", ({ engine: options }) => {
  test.each(cases.map((one) => [nameOf(one), one] as const))("%s as in TRL", async (_, one) => {
    const engine = new LocalEngine(start, options);
    try {
      const ours = await (one.method === "grpo" ? rollouts(engine, one) : files(engine, one));
      expect(worst(ours.losses, one.losses)).toBeLessThan(TOLERANCE);
      expect(worst(ours.gradient_norms, one.gradient_norms)).toBeLessThan(TOLERANCE);
    } finally {
      await engine.close();
    }
  });
});

function nameOf(one: Case): string {
  if (one.method !== "grpo") return one.method;
  const { loss_type, level, beta } = one;
  return `grpo, ${loss_type}, ratio per ${level}${beta > 0 ? ", with a KL penalty" : ""}`;
}

/** Rows by the source that `train` uses, KTO's estimate on mismatched completions included. */
async function files(engine: LocalEngine, one: Case): Promise<Measured> {
  const algorithm = algorithmOf(one.method);
  const settings = settingsOf(one);
  const data = await readTrainingData({
    ...{ dataset: inFolder(`${FILES[one.method as keyof typeof FILES]}.jsonl`), outdir: FOLDER },
    ...{ algorithm, settings, encoder: engine.encoder, heldOut: new HeldOutPrompts([]) },
  });
  // Files are not played.
  const environment = undefined as never;
  const source = data.open({ engine, environment, saved: null });
  const { maxTokens } = data;
  return steps(engine, one, { settings, maxTokens }, (step) => source.batch(step));
}

/** GRPO on given completions. */
async function rollouts(engine: LocalEngine, one: Case): Promise<Measured> {
  const lines = readFileSync(inFolder("rollouts.jsonl"), "utf8").trim().split("\n");
  const rows = lines.map((line) => trainingRow(engine, JSON.parse(line)));
  const settings = settingsOf(one);
  const batch = {
    ...{ rows, metrics: {}, klCoefficient: settings.kl.coefficient },
    seconds: { sampling: 0, scoring: 0, logprobs: 0 },
  };
  return steps(engine, one, { settings, maxTokens: given.max_tokens }, async () => batch);
}

function trainingRow({ encoder }: LocalEngine, rollout: Rollout): TrainingRow {
  const { prompt, completion, advantage, old, reference } = rollout;
  const tokens = [...encoder.encode(completion), encoder.endToken];
  return {
    ...completionRow(encoder.promptTokens(prompt), tokens),
    columns: { old, reference, advantage: tokens.map(() => advantage) },
  };
}

function settingsOf(one: Case): TrainSettings {
  const { steps, learning_rate: peak, adam, beta, clip } = given;
  const common = { steps, adam, rate: { peak, warmup: 0, shape: "constant" } };
  const batch = ROWS;
  const algorithm = algorithmOf(one.method);
  if (one.method === "sft") return trainSettings(algorithm, { ...common, batch });
  if (one.method !== "grpo") {
    return trainSettings(algorithm, { ...common, batch, algorithm: { beta } });
  }
  const { loss_type: reduction, level: ratio } = one;
  return trainSettings(algorithm, {
    ...common,
    algorithm: { reduction, ratio, clip_low: clip, clip_high: clip },
    kl: one.beta > 0 ? { mode: "fixed", coefficient: one.beta } : { mode: "none" },
  });
}

interface Plan {
  readonly settings: TrainSettings;
  readonly maxTokens: number;
}

async function steps(
  engine: LocalEngine,
  { method }: Case,
  { settings, maxTokens }: Plan,
  batch: (step: number) => Promise<Batch>,
): Promise<Measured> {
  const algorithm = algorithmOf(method);
  const loss = lossCallOf(engine.can, algorithm, settings, maxTokens);
  const plan = { loss, algorithm, settings };
  const results: UpdateResult[] = [];
  for (let step = 1; step <= given.steps; step++) {
    const rows = await batch(step);
    results.push(await updateOn(engine, plan, rows, step, given.learning_rate));
  }
  return {
    losses: results.map(({ loss }) => loss),
    gradient_norms: results.map(({ gradientNorm }) => gradientNorm),
  };
}

/** The largest difference, relative to the largest of their numbers. */
function worst(ours: readonly number[], theirs: readonly number[]): number {
  expect(ours).toHaveLength(theirs.length);
  const size = Math.max(...theirs.map(Math.abs));
  return Math.max(...ours.map((x, i) => Math.abs(x - (theirs[i] as number)) / size));
}
