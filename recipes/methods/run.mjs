// `node recipes/methods/run.mjs`: five methods from the same π₀ with the same budget of tokens.
import { writeFileSync } from "node:fs";
import path from "node:path";
import {
  fixed,
  HOLDOUT,
  keptEvaluation,
  lockedroom,
  measure,
  PI0,
  passAt,
  passRate,
  publish,
  readLines,
  root,
  runFolder,
  secondsOf,
  select,
  TRAIN,
  table,
  tokensOf,
  train,
} from "../lib.mjs";

/** Tokens that a method may sample or train on, prompts included. */
const BUDGET = 700_000;
/** Pairs and rejection sampling pay for this many completions of each prompt before they learn. */
const SAMPLES = 8;

const texts = path.join("runs/recipes", "methods-texts.jsonl");
writeFileSync(
  path.join(root, texts),
  readLines(TRAIN)
    .map(
      ({ id, prompt, expected_answer: n }) =>
        `${JSON.stringify({ id, prompt, completion: `Final: ${n}` })}\n`,
    )
    .join(""),
);
const pack = runFolder("methods", "pack");
const sampling = ["--n", SAMPLES, "--temperature", 1, "--max-tokens", 32, "--seed", 1];
lockedroom(
  "rollout",
  "--quiet",
  "--policy",
  PI0,
  "--dataset",
  TRAIN,
  ...sampling,
  "--outdir",
  pack,
);
const pairs = runFolder("methods", "pairs");
lockedroom(
  "pairs",
  "--quiet",
  "--dataset",
  TRAIN,
  "--rollouts",
  path.join(pack, "samples.jsonl"),
  "--outdir",
  pairs,
);
const sampled = readLines(pack, "samples.jsonl")
  .flatMap(({ samples }) => samples)
  .reduce((sum, { completion_tokens }) => sum + completion_tokens, 0);

const METHODS = [
  { name: "sft", learnsFrom: "right answers, in spec", dataset: texts, lr: 0.001 },
  { name: "rft", learnsFrom: "own samples that passed", lr: 0.001 },
  {
    ...{ name: "dpo", learnsFrom: "pairs of own samples", paid: sampled },
    ...{ dataset: path.join(pairs, "pairs.jsonl"), batch: 32, lr: 0.0001 },
  },
  { name: "grpo", learnsFrom: "rewards", lr: 0.0005 },
  {
    ...{ name: "ppo", learnsFrom: "rewards, value head", lr: 0.0005 },
    set: { "algorithm.epochs": 2 },
  },
];

const figures = METHODS.map(({ name, learnsFrom, paid = 0, set, ...options }) => {
  // An alarm is noted and does not stop a method before its budget is spent.
  const all = { seed: 0, ...options, set: { ...set, alarms_stop: false } };
  const run = train(runFolder("methods", name), name, {
    ...all,
    steps: stepsFor(name, all, BUDGET - paid),
  });
  const learned = path.join(run, "checkpoint");
  const last = keptEvaluation(run);
  return {
    ...{ name, learnsFrom, tokens: tokensOf(run) + paid, seconds: Math.round(secondsOf(run)) },
    pass_at_1: passRate(measure(`methods/${name}-measured`, learned, HOLDOUT)),
    pass_at_8: passAt(select(`methods/${name}-selected`, learned, HOLDOUT), 8),
    ...{ kl: last.kl_exact, entropy: last.entropy, length: last.length_mean },
    alarms: readLines(run, "alarms.jsonl").map(({ alarm, step }) => ({ alarm, step })),
  };
});

/** How many updates the budget pays for, by what the first few cost. */
function stepsFor(name, options, budget) {
  const tried = 8;
  const probe = train(runFolder("methods", `${name}-probe`), name, { ...options, steps: tried });
  return Math.round((budget * tried) / tokensOf(probe));
}

const start = {
  pass_at_1: passRate(measure("methods/start", PI0, HOLDOUT)),
  pass_at_8: passAt(select("methods/start-selected", PI0, HOLDOUT), 8),
};
const [two, three] = [fixed(2), fixed(3)];
publish(
  import.meta.url,
  { budget: BUDGET, start, methods: figures.map(({ seconds: _, ...rest }) => rest) },
  table(
    ["method", "learns from", "pass@1", "pass@8", "KL", "entropy", "length", "tokens", "seconds"],
    [
      ["π₀", "", three(start.pass_at_1), three(start.pass_at_8), "0", "", "", "", ""],
      ...figures.map((row) => [
        row.name,
        row.learnsFrom,
        three(row.pass_at_1),
        three(row.pass_at_8),
        three(row.kl),
        three(row.entropy),
        two(row.length),
        `${Math.round(row.tokens / 1000)}k`,
        row.seconds,
      ]),
    ],
  ),
);
for (const { name, tokens } of figures) {
  if (Math.abs(tokens / BUDGET - 1) > 0.05) console.log(`! ${name} spent ${tokens} tokens`);
}
