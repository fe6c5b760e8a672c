// `node recipes/email-search/run.mjs`: GRPO on searches in an inbox, and the gate's verdict on holdout
// questions.
import path from "node:path";
import { openEnvironment } from "lockedroom/environments";
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
  readLines,
  runFolder,
  secondsOf,
  shownDecision,
  table,
  validationsOf,
} from "../lib.mjs";
import { startOf } from "../start-policy.mjs";

const start = startOf("email-search");
const run = runFolder("email-search", "train");
lockedroom(
  ...["train", "grpo", "--env", "email-search", "--init", start, "--outdir", run, "--threads", 2],
  ...["--config", "recipes/email-search/recipe.yaml", "--set", "stop.plateau=null"],
);
const policies = { start, trained: path.join(run, "checkpoint") };
const both = (look) => ({ start: look("start"), trained: look("trained") });
const play = (temperature) => (who) =>
  playHoldout(`email-search/${who}-${temperature}`, policies[who], {
    ...{ env: "email-search", maxTokens: 64, temperature },
  });
const sampled = both(play(1));
const greedy = both(play(0));

/** Right answers, those of them with exactly the right source, and the turns that they took. */
function answersOf(folder) {
  const rows = readLines(folder, "results.jsonl");
  const of = (code) => rows.filter(({ outcome_code }) => outcome_code === code);
  const correct = of("correct").map(({ episode }) => episode);
  return {
    correct: correct.length,
    right_sources: correct.filter(({ metrics }) => metrics.right_sources === 1).length,
    rightly_unknown: of("rightly_unknown").length,
    turns: correct.reduce((sum, { turns }) => sum + turns, 0) / correct.length,
  };
}

const { definition } = await openEnvironment("email-search");
const questions = definition.tasks("holdout");
const answers = both((who) => answersOf(sampled[who]));
const figures = {
  tasks: questions.length,
  answerable: questions.filter(({ fact }) => fact !== null).length,
  solved: both((who) => passRate(sampled[who])),
  answers,
  greedy: both((who) => passRate(greedy[who])),
  greedy_answers: both((who) => answersOf(greedy[who])),
  outcomes: both((who) => outcomesOf(sampled[who])),
  turns: both((who) => readJson(sampled[who], "summary.json").episodes.metrics.turns.mean),
  gate: gateDecision(sampled.start, sampled.trained),
  gate_greedy: gateDecision(greedy.start, greedy.trained),
  training_seconds: Math.round(secondsOf(run)),
  validations: validationsOf(run, ["correct", "rightly_unknown"]),
  chart: {
    title: "email-search: questions that are answered rightly",
    subtitle: "Validation on dev questions, one episode of each at temperature 1.",
    label: "share solved",
  },
};
const { answerable } = figures;
const unanswerable = figures.tasks - answerable;
const [three, two] = [fixed(3), fixed(2)];
const row = (name, { start: before, trained }, shown, gate) => [
  ...[name, shown(before), shown(trained)],
  gate ? shownDecision(gate) : "",
];
const pick = (field) => both((who) => answers[who][field]);
publishChart(import.meta.url, figures);
publish(
  import.meta.url,
  figures,
  table(
    [`${figures.tasks} holdout questions`, "start policy", "after GRPO", "gate, claim policy"],
    [
      row("solved", figures.solved, three, figures.gate),
      row("solved, greedy", figures.greedy, three, figures.gate_greedy),
      row(`right answer, of ${answerable} that a mail answers`, pick("correct"), String),
      row("right answer with the right source alone", pick("right_sources"), String),
      row(`"I don't know", of ${unanswerable} without an answer`, pick("rightly_unknown"), String),
      row("turns of a right answer", pick("turns"), two),
    ],
  ),
);
console.log(`\n${figures.training_seconds} s of training on this machine`);
