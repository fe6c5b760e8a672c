// `npm run bench:judge`: 1,000 groups of 4 attempts against the embedded judge, 32 requests at once, as
// a ratio to a bare fetch loop with the same requests; memory with ten times as many groups; and the
// same judging from the cache. The judge's server is this process, each measured client one of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedJudge } from "../dist/judge/embedded/server.js";
import { GROUP } from "./judge-groups.mjs";
import { table, updatePage } from "./page.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const [COUNT, REPEATS, CONCURRENCY] = SMALL ? [40, 1, 32] : [1000, 3, 32];
const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));
const server = await startEmbeddedJudge({ faults: [] });

try {
  const folder = path.join(work, "cache");
  const judging = (count, ...cache) => client("judge-run.mjs", count, ...cache);
  const [floor, ours] = [[], []];
  for (let i = 0; i < REPEATS; i++) {
    floor.push(await client("judge-floor.mjs", COUNT));
    ours.push(await judging(COUNT));
  }
  const kept = await judging(COUNT, folder);
  const again = await judging(COUNT, folder);
  const largeFloor = await client("judge-floor.mjs", 10 * COUNT);
  const large = await judging(10 * COUNT);
  for (const { scores } of [...floor, ...ours, kept, again])
    if (scores !== GROUP * COUNT) throw new Error(`${scores} scores of ${GROUP * COUNT}`);
  const same = [ours[0], kept].every(({ sha256 }) => sha256 === again.sha256);
  const seconds = median(ours.map((one) => one.seconds));
  const checks = [
    ["judging / bare fetch loop, time", ratio(ours, floor), 1.5],
    [`requests for ${COUNT} groups`, ours[0].requests, COUNT],
    [`peak memory with ${10 * COUNT} groups / bare loop`, large.memory / largeFloor.memory, 1.3],
    [`peak memory with ${10 * COUNT} groups (MB)`, large.memory, 220],
    ["from the cache, requests", again.requests, 0],
    ["from the cache, verdicts with other bytes", same ? 0 : 1, 0],
    ["from the cache / by requests, time", again.seconds / seconds, 1],
  ].map(([name, value, limit]) => ({ name, value: round(value), limit, holds: value <= limit }));
  for (const { name, value, limit, holds } of checks)
    console.log(
      `${holds ? "ok  " : "OVER"} ${name.padEnd(45)} ${String(value).padStart(7)}  limit ${limit}`,
    );
  if (!SMALL)
    updatePage(
      "bench:judge",
      page(checks, { seconds, kept, again, large, largeFloor, ours, floor }),
    );
  process.exitCode = checks.every(({ holds }) => holds) ? 0 : 1;
} finally {
  await server.close();
  rmSync(work, { recursive: true, force: true });
}

function page(checks, { seconds, kept, again, large, largeFloor, ours, floor }) {
  const line = (name, groups, time, { requests, memory }) => [
    ...[name, groups, `${round(time)} s`, requests, `${Math.round(memory)} MB`],
  ];
  return [
    ...table(
      ["judging", "groups", "time", "requests", "peak memory"],
      [
        line("bare fetch loop", COUNT, median(floor.map((one) => one.seconds)), floor[0]),
        line("without a cache", COUNT, seconds, ours[0]),
        line("answers kept", COUNT, kept.seconds, kept),
        line("from the cache", COUNT, again.seconds, again),
        line("bare fetch loop", 10 * COUNT, largeFloor.seconds, largeFloor),
        line("without a cache", 10 * COUNT, large.seconds, large),
      ],
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

/** Runs a client in a process of its own; what it prints is its result. */
function client(script, count, ...more) {
  const args = [path.join(here, script), server.url, String(count), String(CONCURRENCY), ...more];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    printed += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (status) => {
      if (status === 0) resolve(JSON.parse(printed));
      else reject(new Error(`${script} ended with ${status}`));
    });
  });
}

function ratio(ours, floor) {
  return median(ours.map(({ seconds }, i) => seconds / floor[i].seconds));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function round(value) {
  return Number(value.toPrecision(3));
}
