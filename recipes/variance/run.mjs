// `node recipes/variance/run.mjs`: what a baseline and group normalisation do to the luck of a seed.
import { fixed, publish, readLines, runFolder, table, train } from "../lib.mjs";

const SEEDS = [0, 1, 2];
const STEPS = 30;
const VARIANTS = [
  { name: "REINFORCE, no baseline", algorithm: "reinforce", set: { "algorithm.baseline": "none" } },
  {
    name: "REINFORCE, running mean",
    algorithm: "reinforce",
    set: { "algorithm.baseline": "running" },
  },
  {
    name: "REINFORCE, prompt's mean",
    algorithm: "reinforce",
    set: { "algorithm.baseline": "prompt" },
  },
  {
    name: "GRPO, std none",
    algorithm: "grpo",
    set: { "algorithm.std": "none", "algorithm.reduction": "sequences" },
  },
  {
    name: "GRPO, std sample",
    algorithm: "grpo",
    set: { "algorithm.std": "sample", "algorithm.reduction": "sequences" },
  },
];

const figures = VARIANTS.map(({ name, algorithm, set }, i) => {
  const runs = SEEDS.map((seed) =>
    train(runFolder("variance", `${i}-${seed}`), algorithm, {
      steps: STEPS,
      seed,
      lr: 0.0003,
      set,
    }),
  );
  const ends = runs.map((run) => readLines(run, "evaluations.jsonl").at(-1).pass_rate);
  const norms = runs.flatMap((run) =>
    readLines(run, "metrics.jsonl").map((row) => row.gradient_norm),
  );
  return { name, pass_rates: ends, ...spread(ends), gradient_norm: spread(norms) };
});
const three = fixed(3);
publish(
  import.meta.url,
  figures,
  table(
    ["method", "dev pass@1 by seed", "mean", "deviation of the seeds", "gradient norm"],
    figures.map((row) => [
      row.name,
      row.pass_rates.map(three).join(", "),
      three(row.mean),
      three(row.deviation),
      `${fixed(2)(row.gradient_norm.mean)} ± ${fixed(2)(row.gradient_norm.deviation)}`,
    ]),
  ),
);

function spread(values) {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const square = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
  return { mean, deviation: Math.sqrt(square) };
}
