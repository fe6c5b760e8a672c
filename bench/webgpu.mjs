// `npm run bench:webgpu`: the same training steps on the CPU and on the GPU, through the same graphs.
// Fails when the losses differ by more than 1e-3; prints a message where there is no GPU.

import { completionRow } from "../dist/core/token-row.js";
import { batchShape, collate } from "../dist/engine/collate.js";
import { lossGraph } from "../dist/engine/loss-graph.js";
import { startState } from "../dist/engine/optimiser.js";
import { place } from "../dist/graph/parameters.js";
import { Session } from "../dist/graph/session.js";
import { ADAM, gradientStep, updateStep } from "../dist/graph/train-step.js";
import { attentionLength, parametersOf } from "../dist/policy/architecture.js";
import { initialise, SIZES } from "../dist/policy/initialise.js";
import { packRows } from "../dist/policy/packing.js";
import { sftLoss } from "./engine-training.mjs";

const STEPS = 20;
const LIMIT = 1e-3;
const SHAPES = { nano: [128, 64], micro: [64, 64], small: [64, 64] };
const VOCABULARY = 64;

let worst = 0;
for (const [size, [batch, length]] of Object.entries(SHAPES)) {
  const cpu = await losses("cpu", size, batch, length);
  const gpu = await losses("webgpu", size, batch, length).catch((error) => {
    console.log(`skipped: no WebGPU here (${String(error.message).split("\n")[0].slice(0, 200)})`);
    process.exit(0);
  });
  const gap = Math.max(...cpu.losses.map((loss, i) => Math.abs(loss - gpu.losses[i])));
  worst = Math.max(worst, gap);
  const rate = ({ seconds }) => Math.round((batch * length) / seconds);
  console.log(
    `${size.padEnd(6)} loss ${cpu.losses[0].toFixed(4)} → ${cpu.losses.at(-1).toFixed(4)}, largest difference ${gap.toExponential(1)}; ` +
      `tokens/s: cpu ${rate(cpu)}, webgpu ${rate(gpu)}, ratio ${(cpu.seconds / gpu.seconds).toFixed(2)}`,
  );
}
console.log(
  `${worst <= LIMIT ? "ok  " : "OVER"} largest difference ${worst.toExponential(1)}, limit ${LIMIT}`,
);
process.exitCode = worst <= LIMIT ? 0 : 1;

async function losses(provider, size, batch, length) {
  const architecture = { ...SIZES[size], vocabulary: VOCABULARY };
  const { list, total } = place(parametersOf(architecture));
  const loss = sftLoss(length);
  const { shape } = fedWith(architecture, rowsAt(0, batch, length), loss);
  const slope = gradientStep(list, total, (own) =>
    lossGraph(architecture, (name) => own.get(name), shape, loss),
  );
  const options = { provider, threads: 2 };
  const backward = await Session.create(slope, options);
  const move = await Session.create(updateStep(total), options);
  let { step: count, ...state } = startState(initialise(architecture, 0));
  const found = [];
  const times = [];
  for (; count < STEPS; count++) {
    const { feeds } = fedWith(architecture, rowsAt(count, batch, length), loss);
    const start = performance.now();
    const { parameters } = state;
    const { gradient, loss: own } = await backward.run({ parameters, ...feeds });
    const next = await move.run({
      ...{ ...state, gradient },
      learning_rate: Float32Array.of(0.003),
      correction1: Float32Array.of(1 / (1 - ADAM.beta1 ** (count + 1))),
      correction2: Float32Array.of(1 / (1 - ADAM.beta2 ** (count + 1))),
    });
    times.push((performance.now() - start) / 1000);
    found.push(own[0]);
    state = { parameters: next.next_parameters, m: next.next_m, v: next.next_v };
  }
  await backward.close();
  await move.close();
  return { losses: found, seconds: times.sort((a, b) => a - b)[STEPS >> 1] };
}

/** Each row for itself: the whole batch is then one part, and a step is one call of each graph. */
function fedWith(architecture, rows, loss) {
  const packing = packRows(rows, {
    unpacked: true,
    attentionLength: attentionLength(architecture),
  });
  const shape = batchShape(rows, packing, loss.maxTokens);
  const [made] = collate(rows, packing, shape, { ...loss, microBatchSize: null });
  const feeds = made();
  return { shape, feeds };
}

/** A learnable pattern: counting upwards in strides. */
function rowsAt(step, batch, length) {
  const token = (row, i) => (step + row * 5 + i * 3) % VOCABULARY;
  return Array.from({ length: batch }, (_, row) => {
    const tokens = Array.from({ length: length + 1 }, (_, i) => token(row, i));
    return { ...completionRow(tokens.slice(0, 1), tokens.slice(1)), columns: {} };
  });
}
