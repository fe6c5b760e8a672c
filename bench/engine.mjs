// `npm run bench:engine`: training relative to its matrix products, and batched sampling relative to
// one sequence at a time. The two sides of a ratio are timed alternately within this run.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { growth } from "./engine-growth.mjs";
import { sampling, samplingGain } from "./engine-sampling.mjs";
import { engineTables } from "./engine-tables.mjs";
import { buildSeconds, parameterCount, training } from "./engine-training.mjs";
import { updatePage } from "./page.mjs";

const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const { effort, repeats, shapes, asked, grown } = SMALL
  ? {
      effort: { rounds: 1, calls: 1 },
      repeats: 1,
      shapes: { nano: [2, 8], micro: [1, 8], small: [1, 8] },
      asked: { batch: 2, prompt: 4, fresh: 3 },
      grown: { batches: [1, 2], lengths: [8, 16], sampled: [1, 2], groups: [1, 2], tokens: [4] },
    }
  : {
      effort: { rounds: 7, calls: 3 },
      repeats: 9,
      shapes: { nano: [64, 48], micro: [32, 64], small: [16, 64] },
      asked: { batch: 64, prompt: 32, fresh: 32 },
      grown: {
        batches: [16, 32, 64, 128, 256],
        lengths: [16, 32, 64, 128, 256],
        sampled: [1, 8, 64, 256],
        groups: [1, 8, 64],
        tokens: [16, 32, 64, 128],
      },
    };
const SIZES = Object.keys(shapes);
const THREADS = [1, 2];
const shapeOf = (size) => ({ batch: shapes[size][0], length: shapes[size][1] });

const trained = await rows((size, threads) => training(size, shapeOf(size), threads, effort));
// The smallest size is also compared with one sequence at a time, where a batch gains most.
const sampled = await rows((size, threads) =>
  size === "nano"
    ? samplingGain(size, { ...asked, threads }, effort)
    : sampling(size, { ...asked, threads }, repeats),
);
const sizes = await rows(
  async (size) => ({
    size,
    parameters: parameterCount(size),
    buildSeconds: await buildSeconds(size, shapeOf(size), repeats),
    peakMegabytes: peakMegabytes(size),
  }),
  [1],
);
const grew = await growth({ ...grown, asked, shape: shapeOf("nano") }, repeats, effort);
const parameters = sizes.map(({ size, parameters }) => ({
  at: `${(parameters / 1e6).toFixed(1)}M`,
  tokensPerSecond: trained.find((row) => row.size === size).tokensPerSecond,
}));

/** Values with a minimum, with a maximum, or only for comparison. */
const checks = [
  ...trained
    .filter(({ size }) => size !== "nano")
    .map(({ size, threads, share }) => ({
      name: `training ${size}, matrix products / step, time with ${threadsOf(threads)}`,
      value: share,
      least: 0.55,
    })),
  ...sampled
    .filter(({ gain }) => gain !== undefined)
    .flatMap(({ size, threads, gain, ownGain }) => {
      const alone = (what) =>
        `sampling ${size}, batch of 64 / ${what}, one sequence, no cache, with ${threadsOf(threads)}`;
      return [
        { name: alone("exported file"), value: gain, least: 20 },
        // For comparison only: it gets faster with the engine.
        { name: alone("engine graph"), value: ownGain },
      ];
    }),
  ...sizes.map(({ size, buildSeconds: value }) => ({
    name: `training ${size}, time to build the step (s)`,
    value,
    most: 0.5,
  })),
].map((check) => ({ ...check, holds: holds(check) }));

for (const { name, value, least, most, holds } of checks) {
  const limit = least !== undefined ? `at least ${least}` : most && `at most ${most}`;
  const verdict = limit === undefined ? "    " : holds ? "ok  " : "MISS";
  console.log(
    `${verdict} ${name.padEnd(88)} ${String(value).padStart(5)}  ${limit ?? "for comparison"}`,
  );
}
if (!SMALL) {
  const results = {
    node: process.version,
    runtime: createRequire(import.meta.url)("onnxruntime-node/package.json").version,
    cores: availableParallelism(),
    trained,
    sampled,
    sizes,
    growth: [{ name: "training, parameters", points: parameters }, ...grew],
    checks,
  };
  const file = new URL("engine-results.json", import.meta.url);
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  updatePage("bench:engine", engineTables(results));
}
process.exitCode = checks.every(({ holds }) => holds) ? 0 : 1;

/** Sequentially, so that measurements do not disturb each other. */
async function rows(measure, threads = THREADS) {
  const found = [];
  for (const size of SIZES) {
    for (const count of threads) {
      const row = await measure(size, count);
      console.log(JSON.stringify(row));
      found.push(row);
    }
  }
  return found;
}

function peakMegabytes(size) {
  const child = fileURLToPath(new URL("engine-memory.mjs", import.meta.url));
  const args = [child, size, ...shapes[size]].map(String);
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

function holds({ value, least = -Infinity, most = Infinity }) {
  return value >= least && value <= most;
}

function threadsOf(count) {
  return count === 1 ? "1 thread" : `${count} threads`;
}
