// `npm run bench:peers`: training and sampling against PyTorch, Hugging Face and TRL on the same CPU.
// The sides of a ratio are timed alternately, each measurement in a process of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { lowerQuartile, round } from "./engine-clock.mjs";
import { updatePage } from "./page.mjs";
import { engines, loops } from "./peers/comparisons.mjs";
import { pythonOf, refuse } from "./peers/python.mjs";
import { peersTables, printedTable } from "./peers/tables.mjs";

const COMMAND = "npm run bench:peers";
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const ROUNDS = SMALL ? 1 : 2;

const flags = readFlags();
const python = pythonOf(flags, COMMAND);
const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-peers-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const options = { folder, python, small: SMALL };
const all = [...(await loops(options)), ...engines(options)];
const chosen = all.filter(({ name }) => name.includes(flags.only ?? ""));
if (chosen.length === 0) {
  const names = all.map(({ name }) => name).join("\n");
  refuse(`no comparison has "${flags.only}" in its name.`, `Comparisons:\n${names}`);
}
const rows = [];
for (const comparison of chosen) {
  const found = rowsOf(comparison, measured(comparison));
  console.log(printedTable(found));
  rows.push(...found);
}

console.log(`\n${printedTable(rows)}`);
if (SMALL)
  console.log("LOCKEDROOM_BENCH_SMALL: tiny sizes, so the figures say nothing about speed.");
for (const { name, megabytes } of rows.filter(({ megabytes }) => megabytes)) {
  console.log(`peak memory  ${name}: ours ${megabytes.ours} MB, theirs ${megabytes.theirs} MB`);
}
if (!SMALL && flags.only === undefined) {
  const results = {
    ...{ node: process.version, cores: availableParallelism(), versions: versionsOf(python) },
    ...{ rounds: ROUNDS, rows },
  };
  const file = new URL("peers-results.json", import.meta.url);
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  updatePage("bench:peers", peersTables(results));
}
process.exitCode = SMALL || rows.every(({ holds }) => holds) ? 0 : 1;

function readFlags() {
  const options = {
    install: { type: "boolean" },
    python: { type: "string" },
    /** A part of the names of the comparisons to make; nothing is written then. */
    only: { type: "string" },
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error.message, `Flags: --install, --python PATH, --only NAME.`);
  }
}

/** Every side in turn, in each round. */
function measured({ sides }) {
  const found = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const [side, measure] of Object.entries(sides)) found[side].push(measure());
  }
  return found;
}

/** Of the times of all rounds the lower quartile: disturbances only make a call slower. */
function timeOf(measurements) {
  return lowerQuartile(measurements.flatMap(({ times }) => times));
}

function rowsOf(comparison, found) {
  return comparison.kind === "loop" ? [loopRow(comparison, found)] : engineRows(comparison, found);
}

function loopRow({ name, goal, steps }, { ours, theirs }) {
  const [own, other] = [timeOf(ours), timeOf(theirs)];
  const most = (side) => Math.round(Math.max(...side.map(({ megabytes }) => megabytes)));
  const tokens = ([{ tokens }]) => (tokens === null ? null : round(tokens));
  return {
    ...{ name, unit: "s/step", steps, ours: round(own), theirs: round(other) },
    ...verdict(other / own, goal),
    loop: round(lowerQuartile(ours.map(({ loop }) => loop))),
    megabytes: { ours: most(ours), theirs: most(theirs) },
    tokens: { ours: tokens(ours), theirs: tokens(theirs) },
  };
}

function engineRows({ name, tokens, peers }, { ours, ...theirs }) {
  const perSecond = (ms) => Math.round(round((tokens * 1000) / ms));
  const own = timeOf(ours);
  return Object.entries(peers).map(([peer, { named, goal }]) => {
    const other = timeOf(theirs[peer]);
    return {
      ...{ name: `${name}, ${named}`, unit: "tokens/s" },
      ...{ ours: perSecond(own), theirs: perSecond(other), ...verdict(other / own, goal) },
    };
  });
}

/** How many times as fast as theirs. */
function verdict(exact, least) {
  const ratio = round(exact);
  return { ratio, least, holds: ratio >= least };
}

function versionsOf(interpreter) {
  const script =
    "import json; from importlib.metadata import version; " +
    "print(json.dumps({n: version(n) for n in ('torch', 'transformers', 'trl')}))";
  return JSON.parse(execFileSync(interpreter, ["-c", script], { encoding: "utf8" }));
}
