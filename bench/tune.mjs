// `npm run bench:tune`: `tune validate` on files of 100,000 rows, as a ratio to a loop that only parses
// their lines; memory with five times as many rows. Each measured pass is a process of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { table, updatePage } from "./page.mjs";
import { SHAPES, writeRows } from "./tune-rows.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const [COUNT, REPEATS] = SMALL ? [500, 1] : [100_000, 5];
const LIMIT = 3;
const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));

try {
  const measured = SHAPES.map((shape) => measure(shape));
  const large = path.join(work, "large.jsonl");
  writeRows(large, "sft", 5 * COUNT);
  const memory = pass("tune-run.mjs", large).memory;
  const checks = [
    ...measured.map(({ shape, ratio }) => [`${shape}, ${COUNT} rows / only parsing`, ratio, LIMIT]),
    ...measured.map(({ shape, ours }) => [`${shape}, findings in sound rows`, ours.problems, 0]),
    [`sft, ${5 * COUNT} rows, peak memory (MB)`, memory, 250],
  ].map(([name, value, limit]) => ({ name, value: round(value), limit, holds: value <= limit }));
  for (const { name, value, limit, holds } of checks)
    console.log(
      `${holds ? "ok  " : "OVER"} ${name.padEnd(45)} ${String(value).padStart(7)}  limit ${limit}`,
    );
  if (!SMALL) updatePage("bench:tune", page(measured, checks));
  process.exitCode = checks.every(({ holds }) => holds) ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The two sides by turns; of each side the fastest, and of the ratio the median. */
function measure(shape) {
  const file = path.join(work, `${shape}.jsonl`);
  writeRows(file, shape, COUNT);
  const pairs = Array.from({ length: REPEATS }, () => [
    pass("tune-floor.mjs", file),
    pass("tune-run.mjs", file),
  ]);
  for (const [floor, ours] of pairs)
    if (floor.rows !== COUNT || ours.rows !== COUNT) throw new Error(`${shape}: rows are missing`);
  const [floor, ours] = [0, 1].map((side) =>
    pairs
      .map((pair) => pair[side])
      .reduce((best, one) => (one.seconds < best.seconds ? one : best)),
  );
  const ratios = pairs.map(([one, other]) => other.seconds / one.seconds);
  return { shape, floor, ours, ratio: ratios.toSorted((a, b) => a - b)[ratios.length >> 1] };
}

function page(measured, checks) {
  return [
    ...table(
      ["rows", "only parsing", "`tune validate`", "ratio", "peak memory"],
      measured.map(({ shape, floor, ours, ratio }) => [
        ...[`${COUNT.toLocaleString("en")} ${shape}`, `${round(floor.seconds)} s`],
        ...[`${round(ours.seconds)} s`, `${round(ratio)}×`, `${Math.round(ours.memory)} MB`],
      ]),
    ),
    "",
    ...table(
      ["check", "measured", "limit"],
      checks.map(({ name, value, limit }) => [name, value, `≤ ${limit}`]),
    ),
    "",
    `Measured with Node ${process.version} on 2 cores.`,
    "",
  ].join("\n");
}

function pass(script, ...args) {
  return JSON.parse(execFileSync(process.execPath, [path.join(here, script), ...args]));
}

function round(value) {
  return Number(value.toPrecision(3));
}
