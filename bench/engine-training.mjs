// Training as the product does it, its floor beside it, and how long a step takes to build.

import { completionRow } from "../dist/core/token-row.js";
import { batchShape } from "../dist/engine/collate.js";
import { lossGraph } from "../dist/engine/loss-graph.js";
import { Optimiser, startState } from "../dist/engine/optimiser.js";
import { everything } from "../dist/engine/trainable.js";
import { Updater } from "../dist/engine/updater.js";
import { place } from "../dist/graph/parameters.js";
import { Session } from "../dist/graph/session.js";
import { ADAM, gradientStep } from "../dist/graph/train-step.js";
import { sft } from "../dist/learn/algorithms/sft.js";
import { attentionLength } from "../dist/policy/architecture.js";
import { initialise, parametersOf, SIZES } from "../dist/policy/index.js";
import { Lanes } from "../dist/policy/lanes.js";
import { packRows } from "../dist/policy/packing.js";
import { inTurn, lowerQuartile, round, times } from "./engine-clock.mjs";
import { floorStep } from "./engine-floor.mjs";

const VOCABULARY = 64;
const UPDATE = { learningRate: 1e-3, adam: ADAM, microBatchSize: null, klCoefficient: 0 };

export function architecture(size) {
  return { ...SIZES[size], vocabulary: VOCABULARY };
}

export function parameterCount(size) {
  return place(parametersOf(architecture(size))).total;
}

/** Supervised fine-tuning. */
export function sftLoss(maxTokens) {
  return {
    ...{ kind: "graph", columns: {}, reduction: "dapo", maxTokens },
    build: (inputs) => sft.loss(inputs, {}),
  };
}

/** Steps on the same rows, again and again. */
export function stepsOn(policy, rows, loss, { threads }, update = UPDATE) {
  const { architecture, placed } = policy;
  const lanes = new Lanes({ architecture, placed, places: 1, threads });
  const trainable = everything(policy);
  const state = startState(trainable.start);
  const updater = new Updater({ architecture, trainable, lanes, threads }, state);
  return {
    step: () => updater.update(rows, loss, update),
    async close() {
      await updater.close();
      await lanes.close();
    },
  };
}

/** A step of supervised fine-tuning on rows that are all of one length, and learned as a whole. */
export function trainingStep(size, shape, options) {
  const a = architecture(size);
  const placed = place(parametersOf(a)).list;
  const policy = { architecture: a, placed, parameters: weightsOf(size) };
  return stepsOn(policy, rowsOf(shape), sftLoss(shape.length), options);
}

/** Each position is asked for the next token; the last token is only asked for. */
function rowsOf({ batch, length }) {
  const token = (row, i) => (7 * (row * length + i)) % 61;
  return Array.from({ length: batch }, (_, row) => {
    const tokens = Array.from({ length: length + 1 }, (_, i) => token(row, i));
    return { ...completionRow(tokens.slice(0, 1), tokens.slice(1)), columns: {} };
  });
}

const known = new Map();

/** Initial weights, which take longer to draw than many timed steps. */
export function weightsOf(size) {
  const weights = known.get(size) ?? initialise(architecture(size), 0);
  known.set(size, weights);
  return weights;
}

export async function training(size, shape, threads, effort) {
  const ours = trainingStep(size, shape, { threads });
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
  const { step, close } = trainingStep(size, shape, { threads });
  const ms = lowerQuartile(await times(calls, step));
  await close();
  return { ...shape, msPerStep: round(ms), tokensPerSecond: perSecond(shape, ms) };
}

function perSecond({ batch, length }, ms) {
  return Math.round((batch * length * 1000) / ms);
}

/** Seconds until a step can run: the graph with its gradients, its ONNX file, the sessions. */
export async function buildSeconds(size, shape, calls) {
  const a = architecture(size);
  const { list, total } = place(parametersOf(a));
  const state = startState(weightsOf(size));
  const rows = rowsOf(shape);
  const loss = sftLoss(shape.length);
  const build = async () => {
    const packing = packRows(rows, { attentionLength: attentionLength(a) });
    const sizes = batchShape(rows, packing, shape.length);
    const graph = gradientStep(list, total, (own) =>
      lossGraph(a, (name) => own.get(name), sizes, loss),
    );
    const session = await Session.create(graph, { threads: 1 });
    const optimiser = await Optimiser.create(state, ADAM, { threads: 1 });
    await session.close();
    await optimiser.close();
  };
  return round(lowerQuartile(await times(calls, build)) / 1000);
}
