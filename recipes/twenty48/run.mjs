// `node recipes/twenty48/run.mjs`: GRPO on games of 2048, and the gate's verdict on holdout games.
import path from "node:path";
import { game2048 } from "lockedroom/environments";
import { publishChart } from "../learning-chart.mjs";
import {
  fixed,
  gateDecision,
  lockedroom,
  outcomesOf,
  passRate,
  playHoldout,
  publish,
  readJson,
  runFolder,
  secondsOf,
  shownDecision,
  table,
  validationsOf,
} from "../lib.mjs";
import { startOf } from "../start-policy.mjs";
import { greedy, random, shareWon } from "./players.mjs";

const GAMES = { 128: 500, 256: 200 };
const ENVIRONMENTS = { 128: "twenty48", 256: "recipes/twenty48/to-256.ts" };

const start = startOf("twenty48");
const run = runFolder("twenty48", "train");
lockedroom(
  ...["train", "grpo", "--env", "twenty48", "--init", start, "--outdir", run, "--threads", 2],
  ...["--config", "recipes/twenty48/recipe.yaml", "--set", "stop.plateau=null"],
);
const policies = { start, trained: path.join(run, "checkpoint") };
const both = (look) => ({ start: look("start"), trained: look("trained") });
const scored = (goal) =>
  both((who) =>
    playHoldout(`twenty48/${who}-${goal}`, policies[who], {
      ...{ env: ENVIRONMENTS[goal], maxTokens: 4, tasks: GAMES[goal] },
    }),
  );
const runs = { 128: scored(128), 256: scored(256) };
const scripted = (player) =>
  Object.fromEntries(
    Object.entries(GAMES).map(([goal, count]) => {
      return [goal, shareWon(game2048("scripted", Number(goal)), player, count)];
    }),
  );
const turnsOf = (folder) => readJson(folder, "summary.json").episodes.metrics.turns.mean;

const players = { random: scripted(random), greedy: scripted(greedy) };
const figures = {
  tasks: GAMES[128],
  reach_128: both((who) => passRate(runs[128][who])),
  reach_256: both((who) => passRate(runs[256][who])),
  players,
  outcomes: both((who) => outcomesOf(runs[128][who])),
  turns: both((who) => turnsOf(runs[128][who])),
  gate: gateDecision(runs[128].start, runs[128].trained),
  gate_256: gateDecision(runs[256].start, runs[256].trained),
  training_seconds: Math.round(secondsOf(run)),
  validations: validationsOf(run, ["won"]),
  chart: {
    title: "2048: games that reach a tile of 128",
    subtitle:
      "Validation on dev games at temperature 1; levels of scripted players on holdout games.",
    label: "share of games",
    levels: { "greedy player": players.greedy[128], "random play": players.random[128] },
  },
};
const three = fixed(3);
const row = (goal, { start: before, trained }, gate) => [
  `reach ${goal}, of ${GAMES[goal]} games`,
  ...[players.random[goal], before, trained, players.greedy[goal]].map(three),
  shownDecision(gate),
];
publishChart(import.meta.url, figures);
publish(
  import.meta.url,
  figures,
  table(
    ["holdout", "random play", "start policy", "after GRPO", "greedy player", "gate, claim policy"],
    [row(128, figures.reach_128, figures.gate), row(256, figures.reach_256, figures.gate_256)],
  ),
);
console.log(`\n${figures.training_seconds} s of training on this machine`);
