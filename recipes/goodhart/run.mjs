// `node recipes/goodhart/run.mjs`: trains with a naive reward scorer and validates with the strict one.
import path from "node:path";
import {
  fixed,
  HOLDOUT,
  passAt,
  publish,
  readJson,
  readLines,
  runFolder,
  select,
  table,
  train,
} from "../lib.mjs";

const STEPS = 120;
const NAIVE = "recipes/goodhart/naive.mjs";
const STRICT = "math_final_line";
const options = { steps: STEPS, seed: 0, lr: 0.0005, "validation-scorer": STRICT };

const figures = [
  { name: "naive scorer, alarms do not stop", scorer: NAIVE, set: { alarms_stop: false } },
  { name: "naive scorer, alarms stop", scorer: NAIVE, set: {} },
  { name: "strict scorer", scorer: STRICT, set: {} },
].map(({ name, scorer, set }, i) => {
  const run = train(runFolder("goodhart", String(i)), "grpo", { ...options, scorer, set });
  const evaluations = readLines(run, "evaluations.jsonl");
  const { stop } = readJson(run, "summary.json");
  const at = (step) => evaluations.find((row) => row.step === step);
  const brief = ({ step, proxy_mean, pass_rate }) => ({
    step,
    proxy: proxy_mean,
    truth: pass_rate,
  });
  return {
    name,
    start: brief(evaluations[0]),
    end: brief(evaluations.at(-1)),
    kept: brief(at(stop.kept) ?? evaluations.at(-1)),
    stopped: stop,
    // The kept policy was selected on dev, so it is measured on another set.
    holdout_truth: passAt(
      select(`goodhart/${i}-measured`, path.join(run, "checkpoint"), HOLDOUT),
      1,
    ),
    alarms: readLines(run, "alarms.jsonl").map(({ alarm, step }) => ({ alarm, step })),
  };
});
const three = fixed(3);
const cell = ({ step, proxy, truth }) => `${three(proxy)} / ${three(truth)} (step ${step})`;
publish(
  import.meta.url,
  figures,
  table(
    ["run", "start: proxy / strict", "end", "kept", "strict, kept policy on holdout", "alarms"],
    figures.map((row) => [
      row.name,
      cell(row.start),
      cell(row.end),
      cell(row.kept),
      three(row.holdout_truth),
      row.alarms.map(({ alarm, step }) => `\`${alarm}\` at ${step}`).join(", ") || "none",
    ]),
  ),
);
