/** One batch becomes one update of the policy, or several where an algorithm uses a batch more than once. */

import { usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Engine, EngineAbilities, UpdateResult } from "../engine/engine.ts";
import type { LossCall, TrainingRow } from "../engine/loss.ts";
import type { Algorithm } from "./algorithm.ts";
import type { TrainSettings } from "./settings.ts";
import type { Batch } from "./source.ts";
import { permutation } from "./sources/order.ts";

export interface BatchUpdate extends UpdateResult {
  /** Tokens that were trained on, prompts included. */
  readonly tokens: number;
}

/** What every update of a run has in common. */
export interface UpdatePlan {
  readonly loss: LossCall;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
}

/** An algorithm's loss in the form that the engine takes. */
export function lossCallOf(
  can: EngineAbilities,
  algorithm: Algorithm,
  settings: TrainSettings,
  maxTokens: number,
): LossCall {
  const { columns, namedLoss: name } = algorithm;
  const own = settings.algorithm;
  const { mode, place, estimator } = settings.kl;
  const penalty = algorithm.needs === "rollouts" && mode !== "none" && place === "loss";
  if (can.graphLoss) {
    return {
      ...{ kind: "graph", columns, maxTokens, reduction: algorithm.reduction(own) },
      together: algorithm.needs === "pairs" ? 2 : 1,
      build: (inputs) => algorithm.loss(inputs, own),
      kl: penalty ? estimator : undefined,
    };
  }
  if (penalty) {
    throw usageError(
      "this engine cannot add a KL penalty to the loss",
      "Put it into the reward with --set kl.place=reward, or leave it out.",
    );
  }
  if (name !== undefined && can.losses.includes(name)) {
    return { kind: "named", name, config: own as JsonObject };
  }
  throw usageError(
    `this engine cannot compute the loss of ${algorithm.name}`,
    `It knows ${can.losses.join(", ") || "no losses by name"}. Choose another method or engine.`,
  );
}

export async function updateOn(
  engine: Pick<Engine, "update">,
  { loss, algorithm, settings }: UpdatePlan,
  { rows, klCoefficient }: Batch,
  step: number,
  learningRate: number,
): Promise<BatchUpdate> {
  const passes = algorithm.passes?.(settings.algorithm) ?? { epochs: 1, minibatches: 1 };
  const { beta1, beta2, epsilon, weight_decay, clip_norm } = settings.adam;
  const options = {
    ...{ learningRate, klCoefficient },
    adam: { beta1, beta2, epsilon, weightDecay: weight_decay, clipNorm: clip_norm },
    microBatchSize: settings.micro_batch_size,
  };
  const results: UpdateResult[] = [];
  let tokens = 0;
  for (const own of minibatches(rows, passes, settings.seed, step)) {
    const result = await engine.update(own, loss, options);
    results.push(result);
    tokens += own.reduce((sum, row) => sum + row.tokens.length - 1, 0);
    if (!Number.isFinite(result.loss)) break;
  }
  return { ...combined(results), tokens };
}

/** All rows in order, or shuffled into minibatches anew in each epoch. */
function* minibatches(
  rows: readonly TrainingRow[],
  passes: { readonly epochs: number; readonly minibatches: number },
  seed: number,
  step: number,
): Generator<readonly TrainingRow[]> {
  if (passes.epochs === 1 && passes.minibatches === 1) {
    yield rows;
    return;
  }
  const size = Math.ceil(rows.length / passes.minibatches);
  for (let epoch = 0; epoch < passes.epochs; epoch++) {
    const order = permutation(rows.length, seed, "minibatches", step, epoch);
    const shuffled = [...order].map((i) => rows[i] as TrainingRow);
    for (let at = 0; at < rows.length; at += size) yield shuffled.slice(at, at + size);
  }
}

/** Means over the updates; a check counts before the first of them, and a largest is the largest. */
function combined(results: readonly UpdateResult[]): UpdateResult {
  const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const names = Object.keys(results[0]?.metrics ?? {});
  const shares = results.flatMap(({ usedShare }) => usedShare ?? []);
  return {
    usedShare: shares.length > 0 ? mean(shares) : undefined,
    loss: mean(results.map(({ loss }) => loss)),
    gradientNorm: mean(results.map(({ gradientNorm }) => gradientNorm)),
    metrics: Object.fromEntries(
      names.map((name) => {
        const values = results.map(({ metrics }) => metrics[name] as number);
        if (name.startsWith("check/")) return [name, values[0] as number];
        return [name, name.endsWith("/max") ? Math.max(...values) : mean(values)];
      }),
    ),
  };
}

export interface Schedule {
  readonly peak: number;
  /** Steps of linear rise at the start. */
  readonly warmup: number;
  /** What the rate has come down to at the end, as a share of the peak. */
  readonly end: number;
  readonly shape: "constant" | "linear" | "cosine";
}

/** The rate of step 1, 2, …, `steps`. */
export function rateAt(
  step: number,
  steps: number,
  { peak, warmup, end, shape }: Schedule,
): number {
  if (step <= warmup) return (peak * step) / (warmup + 1);
  if (shape === "constant") return peak;
  const share = steps === warmup ? 1 : (step - warmup) / (steps - warmup);
  const left = shape === "linear" ? 1 - share : (1 + Math.cos(Math.PI * share)) / 2;
  return peak * (end + (1 - end) * left);
}
