// `npm run bench:learn`: GRPO end to end from π₀: time by phase, and sampling and updating relative to
// the decoder and the training step alone, for as many rows of the same policy in the same run.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { completionRow } from "../dist/core/token-row.js";
import { ADAM } from "../dist/graph/train-step.js";
import { promptTokens } from "../dist/policy/chat.js";
import { loadCheckpoint } from "../dist/policy/checkpoint.js";
import { Decoder } from "../dist/policy/decoder.js";
import { generateAll } from "../dist/policy/generate.js";
import { sftLoss, stepsOn } from "./engine-training.mjs";
import { learnTables } from "./learn-tables.mjs";
import { updatePage } from "./page.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "..");
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const STEPS = SMALL ? 3 : 12;
const THREADS = 2;
const [PROMPTS, GROUP, MOST] = [32, 8, 32];
const DATASET = path.join(root, "data/datasets/math_train.jsonl");
const PI0 = path.join(root, "assets/pi0");

const loop = timeLoop();
const policy = await loadCheckpoint(PI0);
const prompts = readFileSync(DATASET, "utf8")
  .split("\n")
  .slice(0, PROMPTS)
  .map((line) => promptTokens(policy, JSON.parse(line).prompt));
const { rows, seconds: sampling } = await timeSampling();
const engine = { sampling, updating: await timeUpdating(rows) };

const total = loop.sampling + loop.scoring + loop.logprobs + loop.updating;
const checks = [
  ["scoring, share of the total time", loop.scoring / total, 0.02],
  ["sampling / decoder alone, time for the same tokens", loop.sampling / engine.sampling, 1.5],
  [
    "updating / training step alone, time for the same rows packed",
    loop.updating / engine.updating,
    1.5,
  ],
];
const results = {
  node: process.version,
  steps_per_second: round(1 / total),
  share: {
    sampling: round(loop.sampling / total),
    scoring: round(loop.scoring / total),
    logprobs: round(loop.logprobs / total),
    updating: round(loop.updating / total),
  },
  checks: checks.map(([name, value, limit]) => ({
    ...{ name, limit },
    value: round(value),
    holds: value <= limit,
  })),
};
const { share } = results;
console.log(
  `GRPO, ${PROMPTS} prompts × ${GROUP}: ${results.steps_per_second} steps/s; ` +
    `sampling ${share.sampling}, scoring ${share.scoring}, ` +
    `logprobs ${share.logprobs}, updating ${share.updating} of the time`,
);
for (const { name, value, limit, holds } of results.checks) {
  console.log(
    `${holds ? "ok  " : "OVER"} ${name.padEnd(60)} ${String(value).padStart(7)}  limit ${limit}`,
  );
}
if (!SMALL) {
  writeFileSync(path.join(here, "learn-results.json"), `${JSON.stringify(results, null, 2)}\n`);
  updatePage("bench:learn", learnTables(results));
}
process.exitCode = SMALL || results.checks.every(({ holds }) => holds) ? 0 : 1;

/** Seconds per step from timing.jsonl: medians, without the first step. */
function timeLoop() {
  const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));
  try {
    const outdir = path.join(work, "run");
    const flags = [
      "--init",
      PI0,
      "--dataset",
      DATASET,
      "--steps",
      STEPS,
      "--lr",
      0.0003,
      "--quiet",
    ];
    const command = [path.join(root, "dist/cli/bin.js"), "train", "grpo", ...flags.map(String)];
    execFileSync(process.execPath, [...command, "--threads", String(THREADS), "--outdir", outdir]);
    const rows = readFileSync(path.join(outdir, "timing.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .slice(1);
    const middle = (name) => median(rows.map((row) => row[`${name}_s`]));
    return {
      sampling: middle("sampling"),
      scoring: middle("scoring"),
      logprobs: middle("logprobs"),
      updating: middle("updating"),
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** As many completions, by the decoder alone. */
async function timeSampling() {
  const decoder = new Decoder(policy.architecture, policy.placed, {
    batch: PROMPTS * GROUP,
    threads: THREADS,
  });
  const wanted = prompts.flatMap((prompt, p) =>
    Array.from({ length: GROUP }, (_, n) => ({ prompt, address: [0, p, n] })),
  );
  const { parameters, tokenizer, maxLength } = policy;
  const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: MOST, stop: [], seed: 0 };
  const options = { parameters, tokenizer, maxLength, sampling };
  let completions = [];
  const seconds = await repeated(async () => {
    completions = await generateAll(decoder, wanted, options);
  });
  await decoder.close();
  const rows = completions.map(({ tokens }, i) => completionRow(wanted[i].prompt, tokens));
  return { seconds, rows };
}

/** A supervised step on these rows, packed as in the loop. */
async function timeUpdating(rows) {
  const update = { learningRate: 0, adam: ADAM, microBatchSize: null, klCoefficient: 0 };
  const withColumns = rows.map((row) => ({ ...row, columns: {} }));
  const options = { threads: THREADS };
  const { step, close } = stepsOn(policy, withColumns, sftLoss(MOST), options, update);
  const seconds = await repeated(step);
  await close();
  return seconds;
}

async function repeated(work) {
  const times = [];
  for (let i = 0; i < STEPS; i++) {
    const start = performance.now();
    await work();
    times.push((performance.now() - start) / 1000);
  }
  return median(times.slice(1));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function round(value) {
  return Number(value.toPrecision(3));
}
