// `npm run bench:harden`: the time of a million inputs of `harden` with the built-in scorer, as a
// ratio to plain Node that only calls the scorer on as many texts. One process at a time, one core.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { table, updatePage } from "./page.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const cli = path.join(here, "../dist/cli/bin.js");
const dataset = path.join(here, "../data/datasets/math_dev.jsonl");
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const INPUTS = SMALL ? 100_000 : 1_000_000;
const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));

try {
  const floor = [];
  const ours = [];
  for (let i = 0; i < 3; i++) {
    floor.push(timed([path.join(here, "harden-floor.mjs"), dataset, String(INPUTS)]));
    const outdir = path.join(work, `run-${i}`);
    const flags = ["--dataset", dataset, "--inputs", String(INPUTS), "--outdir", outdir];
    ours.push(timed([cli, "harden", "--quiet", ...flags]));
    const { inputs } = JSON.parse(readFileSync(path.join(outdir, "report.json"), "utf8"));
    if (inputs.all < INPUTS) throw new Error(`only ${inputs.all} inputs`);
  }
  const seconds = median(ours.map((one) => one.seconds));
  const cpu = median(ours.map((one) => one.cpu));
  const ratio = median(ours.map((one, i) => one.seconds / floor[i].seconds));
  const checks = [
    ["harden / plain calls of the scorer, time", ratio, 40],
    ["harden, seconds for a million inputs", (seconds * 1_000_000) / INPUTS, 60],
    ["harden, seconds of one core for a million inputs", (cpu * 1_000_000) / INPUTS, 60],
  ].map(([name, value, limit]) => ({ name, value: round(value), limit, holds: value <= limit }));
  for (const { name, value, limit, holds } of checks)
    console.log(
      `${holds ? "ok  " : "OVER"} ${name.padEnd(50)} ${String(value).padStart(7)}  limit ${limit}`,
    );
  if (!SMALL) {
    const rows = checks.map(({ name, value, limit }) => [name, value, `≤ ${limit}`]);
    const lines = [
      ...table(["check", "measured", "limit"], rows),
      "",
      `Measured with Node ${process.version}.`,
      "",
    ];
    updatePage("bench:harden", lines.join("\n"));
  }
  process.exitCode = checks.every(({ holds }) => holds) ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

function timed(args) {
  const began = performance.now();
  const before = cpuOfChildren();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  const seconds = (performance.now() - began) / 1000;
  const cpu = cpuOfChildren() - before;
  return { seconds, cpu: Number.isNaN(cpu) ? seconds : cpu };
}

/** Seconds of processor time of all children that have ended, as Linux counts them. */
function cpuOfChildren() {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return Number.NaN;
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function round(value) {
  return Number(value.toPrecision(3));
}
