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

/** Steps are chosen so that each method spends the budget, to within a twentieth. */
const METHODS = [
  {
    name: "sft",
    algorithm: "sft",
    what: "right answers, in spec",
    dataset: texts,
    steps: 240,
    lr: 0.001,
    paid: 0,
  },
  {
    name: "rft",
    algorithm: "rft",
    what: "own samples that passed",
    steps: 180,
    lr: 0.001,
    paid: 0,
  },
  {
    name: "dpo",
    algorithm: "dpo",
    what: "pairs of own samples",
    dataset: path.join(pairs, "pairs.jsonl"),
    steps: 180,
    batch: 32,
    lr: 0.0003,
    paid: sampled,
  },
  { name: "grpo", algorithm: "grpo", what: "rewards", steps: 47, lr: 0.0005, paid: 0 },
  {
    name: "ppo",
    algorithm: "ppo",
    what: "rewards, value head",
    steps: 24,
    lr: 0.0005,
    paid: 0,
    set: { "algorithm.epochs": 2 },
  },
];

const figures = METHODS.map(({ name, algorithm, what, paid, ...options }) => {
  const run = train(runFolder("methods", name), algorithm, { seed: 0, ...options });
  const learned = path.join(run, "checkpoint");
  const last = keptEvaluation(run);
  return {
    name,
    what,
    tokens: tokensOf(run) + paid,
    seconds: Math.round(secondsOf(run)),
    pass_at_1: passRate(measure(`methods/${name}-measured`, learned, HOLDOUT)),
    pass_at_8: passAt(select(`methods/${name}-selected`, learned, HOLDOUT), 8),
    kl: last.kl_exact,
    entropy: last.entropy,
    length: last.length_mean,
  };
});
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
        row.what,
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
