// `npm run bench`: the time of evaluation relative to plain Node on the same files.
// Every figure is a ratio of two processes timed alternately within this run.
import { execFileSync, spawnSync } from "node:child_process";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { evalTables } from "./eval-tables.mjs";
import { updatePage } from "./page.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const cli = path.join(here, "../dist/cli/bin.js");
const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const ROWS = SMALL ? [1_000, 10_000] : [10_000, 100_000, 1_000_000];

/** Name, measured value, limit; the benchmark fails when a value is above its limit. */
const checks = [];
const sizes = [];

try {
  for (const rows of ROWS) sizes.push(await compare(rows));
  const [, middle, large = middle] = sizes;
  checks.push(["eval / plain Node, time at 100k rows", middle.ratio, 2.5]);
  checks.push([
    "eval, time at 1M rows / 10 × time at 100k",
    large.evalSeconds / (10 * middle.evalSeconds),
    1.2,
  ]);
  checks.push(["eval, peak memory at 1M rows (MB)", large.evalMegabytes, 200]);
  checks.push(["selection-demo / plain Node, time at 10k × 64 samples", await selectionRatio(), 3]);
  checks.push(["--version / node -e 0, time", versionRatio(), 2.5]);
} finally {
  rmSync(work, { recursive: true, force: true });
}

const results = {
  node: process.version,
  cores: availableParallelism(),
  sizes,
  checks: checks.map(([name, value, limit]) => ({
    name,
    value: round(value),
    limit,
    holds: value <= limit,
  })),
};
for (const { name, value, limit, holds } of results.checks) {
  console.log(
    `${holds ? "ok  " : "OVER"} ${name.padEnd(48)} ${String(value).padStart(7)}  limit ${limit}`,
  );
}
if (!SMALL) {
  writeFileSync(path.join(here, "results.json"), `${JSON.stringify(results, null, 2)}\n`);
  updatePage("bench", evalTables(results));
}
process.exitCode = results.checks.every(({ holds }) => holds) ? 0 : 1;

async function compare(rows) {
  const [dataset, completions] = await makeFiles(rows);
  const repeats = rows >= 1_000_000 ? 3 : 5;
  const floor = [];
  const ours = [];
  for (let i = 0; i < repeats; i++) {
    floor.push(
      timed([path.join(here, "floor.mjs"), dataset, completions, path.join(work, "out.jsonl")]),
    );
    const outdir = path.join(work, "run");
    const flags = [
      "eval",
      "--quiet",
      "--dataset",
      dataset,
      "--completions",
      completions,
      "--outdir",
      outdir,
    ];
    ours.push(timed([cli, ...flags]));
    rmSync(outdir, { recursive: true });
  }
  const figures = {
    rows,
    floorSeconds: round(median(floor.map(({ seconds }) => seconds))),
    evalSeconds: round(median(ours.map(({ seconds }) => seconds))),
    ratio: round(median(ours.map(({ seconds }, i) => seconds / floor[i].seconds))),
    floorMegabytes: Math.max(...floor.map(({ megabytes }) => megabytes)),
    evalMegabytes: Math.max(...ours.map(({ megabytes }) => megabytes)),
  };
  console.log(JSON.stringify(figures));
  return figures;
}

/** Both files in the same order; two thirds of the completions are right, the rest wrong in several ways. */
async function makeFiles(rows) {
  const files = [path.join(work, "dataset.jsonl"), path.join(work, "completions.jsonl")];
  const [dataset, completions] = files.map((file) => createWriteStream(file));
  for (let i = 0; i < rows; i += 1000) {
    let examples = "";
    let answers = "";
    for (let j = i; j < i + 1000; j++) {
      const [a, b] = [j % 97, j % 89];
      const id = `ex-${String(j).padStart(7, "0")}`;
      const prompt = `Compute ${a} + ${b}. Reply: Final: <int>`;
      const completion = [
        `Final: ${a + b}`,
        `Final: ${a + b}`,
        [`Final: ${a}`, `Final:  ${b}`, `It is ${a}.`][((j / 3) % 3) | 0],
      ][j % 3];
      examples += `${JSON.stringify({ expected_answer: a + b, id, metadata: { kind: "addition" }, prompt })}\n`;
      answers += `${JSON.stringify({ completion, id, sum_logprob: -1.25 })}\n`;
    }
    dataset.write(examples);
    if (!completions.write(answers))
      await new Promise((resolve) => completions.once("drain", resolve));
  }
  await Promise.all(
    [dataset, completions].map((stream) => new Promise((resolve) => stream.end(resolve))),
  );
  return files;
}

/** 10,000 examples with 64 samples each, compared with plain Node that only parses and scores them. */
async function selectionRatio() {
  const [dataset, packs] = await makePacks(SMALL ? 500 : 10_000, 64);
  const outdir = path.join(work, "selection");
  const flags = [
    "selection-demo",
    "--quiet",
    "--dataset",
    dataset,
    "--samples",
    packs,
    "--n",
    "64",
    "--outdir",
    outdir,
  ];
  const ratios = [];
  for (let i = 0; i < 5; i++) {
    const floor = timed([path.join(here, "select-floor.mjs"), dataset, packs]);
    ratios.push(timed([cli, ...flags]).seconds / floor.seconds);
    rmSync(outdir, { recursive: true });
  }
  return median(ratios);
}

async function makePacks(examples, size) {
  const files = [path.join(work, "dataset.jsonl"), path.join(work, "packs.jsonl")];
  const [dataset, packs] = files.map((file) => createWriteStream(file));
  for (let i = 0; i < examples; i++) {
    const [a, b] = [i % 97, i % 89];
    const samples = Array.from({ length: size }, (_, j) => ({
      completion: [`Final: ${a + b}`, `Final: ${a + b + 1}`, `The answer is ${j}`][
        (31 * i + 17 * j) % 3
      ],
      sum_logprob: -((i + j) % 7) - 0.25,
    }));
    dataset.write(
      `${JSON.stringify({ expected_answer: a + b, id: `ex-${i}`, prompt: `Compute ${a} + ${b}.` })}\n`,
    );
    if (!packs.write(`${JSON.stringify({ id: `ex-${i}`, samples })}\n`))
      await new Promise((resolve) => packs.once("drain", resolve));
  }
  await Promise.all(
    [dataset, packs].map((stream) => new Promise((resolve) => stream.end(resolve))),
  );
  return files;
}

function timed(args) {
  const rss = path.join(work, "rss");
  const env = { ...process.env, LOCKEDROOM_BENCH_RSS: rss };
  const start = process.hrtime.bigint();
  execFileSync(process.execPath, ["--import", path.join(here, "measure.mjs"), ...args], {
    env,
    stdio: "ignore",
  });
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { seconds, megabytes: Math.round(Number(readFileSync(rss, "utf8")) / 1e6) };
}

function versionRatio() {
  const ratios = [];
  for (let i = 0; i < 21; i++) ratios.push(once([cli, "--version"]) / once(["-e", "0"]));
  return median(ratios);
}

function once(args) {
  const start = process.hrtime.bigint();
  spawnSync(process.execPath, args);
  return Number(process.hrtime.bigint() - start);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function round(value) {
  return Number(value.toPrecision(3));
}
