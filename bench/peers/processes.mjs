// One measurement is one process, ours or theirs, so that neither keeps anything from the one before.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const CLI = path.join(here, "../../dist/cli/bin.js");
const MEASURE = path.join(here, "../measure.mjs");

/** The result of one of our scripts or of one of theirs, both of which print it as JSON. */
export function result(program, script, asked) {
  const { stdout } = finished(program, [path.join(here, script), JSON.stringify(asked)]);
  return JSON.parse(stdout);
}

/** The whole command: its seconds, those of its loop, its peak memory, and tokens per completion. */
export function trainCommand(folder, args) {
  const outdir = path.join(folder, "run");
  const rss = path.join(folder, "rss");
  const started = performance.now();
  finished(process.execPath, ["--import", MEASURE, CLI, "train", ...args, "--outdir", outdir], {
    LOCKEDROOM_BENCH_RSS: rss,
  });
  const seconds = (performance.now() - started) / 1000;
  const lines = (name) =>
    readFileSync(path.join(outdir, name), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const loopSeconds = lines("timing.jsonl").reduce((sum, row) => sum + spent(row), 0);
  const lengths = lines("metrics.jsonl").map((row) => row["length/mean"]);
  rmSync(outdir, { recursive: true });
  return {
    ...{ seconds, loopSeconds, megabytes: Number(readFileSync(rss, "utf8")) / 1e6 },
    completion_tokens: mean(lengths),
  };
}

/** Seconds of a step: all of its fields that are times. */
function spent(row) {
  const times = Object.entries(row).filter(([name]) => name.endsWith("_s"));
  return times.reduce((sum, [, seconds]) => sum + seconds, 0);
}

function mean(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function finished(program, args, env = {}) {
  const found = spawnSync(program, args, {
    ...{ encoding: "utf8", maxBuffer: 2 ** 28, env: { ...process.env, ...env } },
  });
  if (found.status === 0) return found;
  const said = found.error?.message ?? `${found.stdout}\n${found.stderr}`;
  throw new Error(
    `${path.basename(program)} ${args.join(" ")} ended with ${found.status}:\n${said}`,
  );
}
