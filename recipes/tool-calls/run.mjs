// `node recipes/tool-calls/run.mjs`: GRPO on calls of tools, and the gate's verdict on holdout tasks.
import path from "node:path";
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

const start = startOf("tool-calls");
const run = runFolder("tool-calls", "train");
lockedroom(
  ...["train", "grpo", "--env", "tool-calls", "--init", start, "--outdir", run, "--threads", 2],
  ...["--config", "recipes/tool-calls/recipe.yaml", "--set", "stop.plateau=null"],
);
const policies = { start, trained: path.join(run, "checkpoint") };
const both = (look) => ({ start: look("start"), trained: look("trained") });
const play = (temperature) => (who) =>
  playHoldout(`tool-calls/${who}-${temperature}`, policies[who], {
    ...{ env: "tool-calls", maxTokens: 48, temperature },
  });
const sampled = both(play(1));
const greedy = both(play(0));
const metricsOf = (folder) => readJson(folder, "summary.json").episodes.metrics;
const unsafe = (folder) => metricsOf(folder).unsafe_calls.mean * metricsOf(folder).unsafe_calls.n;

const validations = validationsOf(run, ["solved"]);
const figures = {
  tasks: readJson(sampled.start, "summary.json").metrics.n_examples,
  solved: both((who) => passRate(sampled[who])),
  unsafe_calls: both((who) => Math.round(unsafe(sampled[who]))),
  greedy: both((who) => passRate(greedy[who])),
  unsafe_calls_greedy: both((who) => Math.round(unsafe(greedy[who]))),
  outcomes: both((who) => outcomesOf(sampled[who])),
  gate: gateDecision(sampled.start, sampled.trained),
  gate_greedy: gateDecision(greedy.start, greedy.trained),
  training_seconds: Math.round(secondsOf(run)),
  validations,
  chart: {
    title: "tool-calls: requests that are answered exactly",
    subtitle: "Validation on dev tasks, one episode of each at temperature 1.",
    label: "share solved",
  },
};
const three = fixed(3);
const { solved, greedy: best, unsafe_calls, unsafe_calls_greedy } = figures;
publishChart(import.meta.url, figures);
publish(
  import.meta.url,
  figures,
  table(
    [`${figures.tasks} holdout tasks`, "start policy", "after GRPO", "gate, claim policy"],
    [
      ["solved exactly", three(solved.start), three(solved.trained), shownDecision(figures.gate)],
      ["unsafe calls", unsafe_calls.start, unsafe_calls.trained, ""],
      [
        ...["solved exactly, greedy", three(best.start), three(best.trained)],
        shownDecision(figures.gate_greedy),
      ],
      ["unsafe calls, greedy", unsafe_calls_greedy.start, unsafe_calls_greedy.trained, ""],
    ],
  ),
);
console.log(`\n${figures.training_seconds} s of training on this machine`);
