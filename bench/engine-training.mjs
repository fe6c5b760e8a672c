// Training as the product does it, its floor beside it, and how long a step takes to build.

import { lossGraph } from "../dist/engine/loss-graph.js";
import { startState, Trainer } from "../dist/engine/trainer.js";
import { place } from "../dist/graph/parameters.js";
import { sft } from "../dist/learn/algorithms/sft.js";
import { initialise, parametersOf, SIZES } from "../dist/policy/index.js";
import { inTurn, lowerQuartile, round, times } from "./engine-clock.mjs";
import { floorStep } from "./engine-floor.mjs";

const VOCABULARY = 64;

export function architecture(size) {
  return { ...SIZES[size], vocabulary: VOCABULARY };
}

export function parameterCount(size) {
  return place(parametersOf(architecture(size))).total;
}

/** A step of supervised fine-tuning on a batch without padding. */
export async function trainingStep(size, shape, options) {
  const trainer = await trainerOf(size, shape, options);
  const count = shape.batch * shape.length;
  const ids = (by) => BigInt64Array.from({ length: count }, (_, i) => BigInt((i * by) % 61));
  const all = (value) => new Float32Array(count).fill(value);
  const batch = { tokens: ids(7), targets: ids(11), mask: all(1), weights: all(1 / count) };
  return { step: () => trainer.step(batch, 1e-3), close: () => trainer.close() };
}

const known = new Map();

/** Initial weights, which take longer to draw than many timed steps. */
export function weightsOf(size) {
  const weights = known.get(size) ?? initialise(architecture(size), 0);
  known.set(size, weights);
  return weights;
}

function trainerOf(size, shape, options) {
  const a = architecture(size);
  const state = startState(weightsOf(size));
  const rows = { rows: shape.batch, length: shape.length };
  const model = (weights) =>
    lossGraph(a, (name) => weights.get(name), rows, {
      columns: {},
      build: (inputs) => sft.loss(inputs, {}),
    });
  return Trainer.create(place(parametersOf(a)).list, model, state, options);
}

export async function training(size, shape, threads, effort) {
  const ours = await trainingStep(size, shape, { threads });
  const floor = await floorStep(architecture(size), shape, { threads });
  const [ms, floorMs] = await inTurn(effort, ours.step, floor.step);
  await ours.close();
  await floor.close();
  return {
    size,
    ...shape,
    threads,
    msPerStep: round(ms),
    floorMs: round(floorMs),
    share: round(floorMs / ms),
    tokensPerSecond: perSecond(shape, ms),
  };
}

/** Without the floor, for the tables over batch and length. */
export async function trainingSpeed(size, shape, threads, calls) {
  const { step, close } = await trainingStep(size, shape, { threads });
  const ms = lowerQuartile(await times(calls, step));
  await close();
  return { ...shape, msPerStep: round(ms), tokensPerSecond: perSecond(shape, ms) };
}

function perSecond({ batch, length }, ms) {
  return Math.round((batch * length * 1000) / ms);
}

/** Seconds until a step can run: the graph with its gradients, its ONNX file, the session. */
export async function buildSeconds(size, shape, calls) {
  const build = async () => (await trainerOf(size, shape, { threads: 1 })).close();
  return round(lowerQuartile(await times(calls, build)) / 1000);
}
