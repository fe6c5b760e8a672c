// `npm run bench:webgpu`: the same training steps on the CPU and on the GPU, through the same graph.
// Fails when the losses differ by more than 1e-3; prints a message where there is no GPU.

import { lossGraph } from "../dist/engine/loss-graph.js";
import { startState, Trainer } from "../dist/engine/trainer.js";
import { place } from "../dist/graph/parameters.js";
import { sft } from "../dist/learn/algorithms/sft.js";
import { parametersOf } from "../dist/policy/architecture.js";
import { initialise, SIZES } from "../dist/policy/initialise.js";

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
  const { list } = place(parametersOf(architecture));
  const trainer = await Trainer.create(
    list,
    (weights) =>
      lossGraph(
        architecture,
        (name) => weights.get(name),
        { rows: batch, length },
        { columns: {}, build: (inputs) => sft.loss(inputs, {}) },
      ),
    startState(initialise(architecture, 0)),
    { provider, threads: 2 },
  );
  const found = [];
  const times = [];
  for (let step = 0; step < STEPS; step++) {
    const start = performance.now();
    const { loss } = await trainer.step(batchAt(step, batch, length), 0.003);
    times.push((performance.now() - start) / 1000);
    found.push(loss);
  }
  await trainer.close();
  return { losses: found, seconds: times.sort((a, b) => a - b)[STEPS >> 1] };
}

/** A learnable pattern: counting upwards in strides. */
function batchAt(step, batch, length) {
  const token = (i) => BigInt((step + Math.floor(i / length) * 5 + (i % length) * 3) % VOCABULARY);
  const size = batch * length;
  return {
    tokens: BigInt64Array.from({ length: size }, (_, i) => token(i)),
    targets: BigInt64Array.from({ length: size }, (_, i) => token(i + 1)),
    mask: new Float32Array(size).fill(1),
    weights: new Float32Array(size).fill(1 / size),
  };
}
