// `npm run bench:episodes`: GRPO on games of 2048 over many turns: how much of a training step is not
// the engine's, that is environment steps, gathering episodes, rewards, advantages and recording.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rngAt } from "../dist/core/rng.js";
import { openPlayable } from "../dist/environments/playable.js";
import {
  answer,
  boardText,
  sameBoard,
  slid,
  twenty48,
} from "../dist/environments/twenty48/twenty48.js";
import { train } from "../dist/learn/train.js";
import { episodesTables } from "./episodes-tables.mjs";
import { updatePage } from "./page.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const SMALL = Boolean(process.env.LOCKEDROOM_BENCH_SMALL);
const STEPS = SMALL ? 3 : 8;
const START_STEPS = SMALL ? 100 : 300;
const [TASKS, GROUP, MOST] = [SMALL ? 4 : 8, 8, 24];
const LIMIT = 0.05;
const MOVES = ["left", "right", "up", "down"];

const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));
try {
  const init = await startPolicy();
  const { steps, turns } = await timeSteps(init);
  const total = (name) => steps.reduce((sum, step) => sum + step[name], 0);
  const wall = total("wall");
  const engine = total("sampling_s") + total("logprobs_s") + total("updating_s");
  const results = {
    node: process.version,
    turns: round(turns),
    seconds_per_step: round(wall / steps.length),
    share: {
      sampling: round(total("sampling_s") / wall),
      "log-probs": round(total("logprobs_s") / wall),
      updating: round(total("updating_s") / wall),
      "environment and gathering": round((wall - engine) / wall),
    },
    checks: [
      {
        name: "environment steps, gathering and scoring, share of a training step",
        limit: LIMIT,
        value: round((wall - engine) / wall),
        holds: (wall - engine) / wall <= LIMIT,
      },
    ],
  };
  console.log(
    `GRPO in twenty48, ${TASKS} tasks × ${GROUP}, ${results.turns} turns a game: ` +
      `${results.seconds_per_step} s a step`,
  );
  for (const { name, value, limit, holds } of results.checks) {
    console.log(`${holds ? "ok  " : "OVER"} ${name} ${value}  limit ${limit}`);
  }
  if (!SMALL) {
    writeFileSync(
      path.join(here, "episodes-results.json"),
      `${JSON.stringify(results, null, 2)}\n`,
    );
    updatePage("bench:episodes", episodesTables(results));
  }
  process.exitCode = results.checks.every(({ holds }) => holds) ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Learns from a player that moves at random: games of many turns are all that is asked of it. */
async function startPolicy() {
  const texts = path.join(work, "texts.jsonl");
  const rows = twenty48
    .tasks("train")
    .slice(0, 200)
    .flatMap((task, seed) => playAtRandom(task, seed));
  writeFileSync(texts, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const outdir = path.join(work, "start");
  await train({
    ...{ algorithm: "sft", dataset: texts, init: "scratch", size: "nano", context: 96 },
    ...{ outdir, threads: 2, saveEvery: 100_000 },
    settings: { steps: START_STEPS, batch: 32, evaluate: { every: 0 }, rate: { peak: 0.003 } },
  });
  return path.join(outdir, "checkpoint");
}

function playAtRandom(task, seed) {
  const rows = [];
  let { state, end } = twenty48.reset(task, seed);
  for (let turn = 0; !end && turn < 40; turn++) {
    const legal = MOVES.filter((move) => !sameBoard(slid(state.board, move).board, state.board));
    const move = legal[rngAt("bench", seed, turn).below(legal.length)];
    rows.push({ id: `${seed}-${turn}`, prompt: boardText(state.board), completion: answer(move) });
    ({ state, end } = twenty48.step(state, { text: answer(move) }));
  }
  return rows;
}

/** Wall-clock and engine seconds of each step but the first, and the mean number of turns. */
async function timeSteps(init) {
  const outdir = path.join(work, "grpo");
  const walls = [];
  const turns = [];
  let last = 0;
  await train({
    ...{ algorithm: "grpo", init, size: "nano", environment: await openPlayable("twenty48") },
    ...{ outdir, threads: 2, saveEvery: 100_000 },
    settings: {
      ...{ steps: STEPS, alarms_stop: false, evaluate: { every: 0 } },
      rollouts: {
        prompts: TASKS,
        group: GROUP,
        max_tokens: MOST,
        credit: "segment",
        discount: 0.9,
      },
    },
    onStep: (_, record) => {
      const now = performance.now();
      walls.push((now - last) / 1000);
      turns.push(record["episode/turns"]);
      last = now;
    },
  });
  const timing = readFileSync(path.join(outdir, "timing.jsonl"), "utf8").trim().split("\n");
  return {
    steps: walls.slice(1).map((wall, i) => ({ wall, ...JSON.parse(timing[i + 1]) })),
    turns: turns.slice(1).reduce((sum, x) => sum + x, 0) / (turns.length - 1),
  };
}

function round(x) {
  return Number(x.toPrecision(3));
}
