// `node recipes/variance/run.mjs`: how a baseline and group normalisation affect the variance between seeds.
import path from "node:path";
import {
  DEV,
  fixed,
  passAt,
  publish,
  readLines,
  runFolder,
  select,
  table,
  train,
} from "../lib.mjs";

const SEEDS = [0, 1, 2];
const STEPS = 30;
const BATCHES = 12;
const VARIANTS = [
  { name: "REINFORCE, no baseline", algorithm: "reinforce", set: { "algorithm.baseline": "none" } },
  {
    ...{ name: "REINFORCE, running mean", algorithm: "reinforce" },
    set: { "algorithm.baseline": "running" },
  },
  {
    // The same gradient as GRPO without division by the standard deviation.
    ...{ name: "REINFORCE, prompt's mean", algorithm: "reinforce" },
    set: { "algorithm.baseline": "prompt" },
  },
  {
    ...{ name: "GRPO, divided by the standard deviation", algorithm: "grpo" },
    set: { "algorithm.std": "sample", "algorithm.reduction": "sequences" },
  },
];

const figures = VARIANTS.map(({ name, algorithm, set }, i) => {
  const rates = SEEDS.map((seed) => {
    const folder = runFolder("variance", `${i}-${seed}`);
    const run = train(folder, algorithm, { steps: STEPS, seed, lr: 0.0003, set });
    // Eight samples per example, with the same seeds for all.
    const pack = select(`variance/${i}-${seed}-measured`, path.join(run, "checkpoint"), DEV);
    return passAt(pack, 1);
  });
  // With a learning rate of 0 the policy does not change, so differences between batches are noise.
  const still = train(runFolder("variance", `${i}-still`), algorithm, {
    ...{ steps: BATCHES, seed: 0, lr: 0, set: { ...set, alarms_stop: false } },
  });
  const norms = spread(readLines(still, "metrics.jsonl").map((row) => row.gradient_norm));
  return { name, pass_rates: rates, ...spread(rates), gradient_norm: norms };
});
const [two, three] = [fixed(2), fixed(3)];
publish(
  import.meta.url,
  figures,
  table(
    ["method", "dev pass@1 by seed", "mean", "sd over seeds", "gradient norm at π₀"],
    figures.map((row) => [
      row.name,
      row.pass_rates.map(three).join(", "),
      three(row.mean),
      three(row.deviation),
      `${two(row.gradient_norm.mean)} ± ${two(row.gradient_norm.deviation)}`,
    ]),
  ),
);

function spread(values) {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const square = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
  return { mean, deviation: Math.sqrt(square) };
}
