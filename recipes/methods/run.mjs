// `node recipes/methods/run.mjs`: eight algorithms from π₀ with the same budget of tokens. With names,
// as in `node recipes/methods/run.mjs orpo kto`, these are measured again and the others stay.
import { writeFileSync } from "node:fs";
import path from "node:path";
import {
  fixed,
  HOLDOUT,
  keptEvaluation,
  lockedroom,
  PI0,
  passAt,
  publish,
  readJson,
  readLines,
  root,
  runFolder,
  select,
  TRAIN,
  table,
  tokensOf,
  train,
} from "../lib.mjs";

/** Sampled tokens plus tokens trained on, including prompts. */
const BUDGET = 700_000;
/** Completions per prompt that are sampled for preference pairs. */
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
  { name: "sft", learnsFrom: "right answers", dataset: texts, lr: 0.001 },
  { name: "rft", learnsFrom: "own passing samples", lr: 0.001 },
  {
    ...{ name: "dpo", learnsFrom: "preference pairs of own samples", paid: sampled },
    ...{ dataset: path.join(pairs, "pairs.jsonl"), batch: 32, lr: 0.00001 },
  },
  {
    ...{ name: "ipo", learnsFrom: "preference pairs of own samples", paid: sampled },
    ...{ dataset: path.join(pairs, "pairs.jsonl"), batch: 32, lr: 0.00003 },
  },
  {
    ...{ name: "kto", learnsFrom: "labelled own samples", paid: sampled },
    ...{ dataset: path.join(pairs, "labels.jsonl"), batch: 32, lr: 0.000003 },
  },
  {
    ...{ name: "orpo", learnsFrom: "preference pairs of own samples", paid: sampled },
    ...{ dataset: path.join(pairs, "pairs.jsonl"), batch: 32, lr: 0.0001 },
  },
  { name: "grpo", learnsFrom: "rewards", lr: 0.0002 },
  {
    ...{ name: "ppo", learnsFrom: "rewards, value head", lr: 0.0002 },
    set: { "algorithm.epochs": 2 },
  },
];

const only = process.argv.slice(2);
const before = only.length === 0 ? { methods: [] } : readJson("recipes/methods/results.json");
const kept = ({ name }) =>
  only.includes(name) ? undefined : before.methods.find((one) => one.name === name);

const figures = METHODS.map((method) => kept(method) ?? measureMethod(method));

function measureMethod({ name, learnsFrom, paid = 0, set, ...options }) {
  // Neither alarms nor a plateau stop a run before its budget is spent.
  const spent = { alarms_stop: false, "stop.plateau": null };
  const all = { seed: 0, ...options, set: { ...set, ...spent } };
  const run = train(runFolder("methods", name), name, {
    ...all,
    steps: stepsFor(name, all, BUDGET - paid),
  });
  const learned = path.join(run, "checkpoint");
  const last = keptEvaluation(run);
  return {
    ...{ name, learnsFrom, tokens: tokensOf(run) + paid },
    ...measured(name, learned),
    ...{ kl: last.kl_exact, entropy: last.entropy, length: last.length_mean },
    alarms: readLines(run, "alarms.jsonl").map(({ alarm, step }) => ({ alarm, step })),
  };
}

/** The number of updates within the budget, from the cost of the first few; the first may cost more. */
function stepsFor(name, options, budget) {
  const probe = train(runFolder("methods", `${name}-probe`), name, { ...options, steps: 8 });
  const [first, ...others] = readLines(probe, "metrics.jsonl").map(
    ({ tokens, sampled_tokens = 0 }) => tokens + sampled_tokens,
  );
  const average = others.reduce((sum, tokens) => sum + tokens, 0) / others.length;
  return Math.round(1 + (budget - first) / average);
}

/** From eight samples per example, to reduce the standard error (0.03 with one sample). */
function measured(name, policy) {
  const pack = select(`methods/${name}-selected`, policy, HOLDOUT);
  return { pass_at_1: passAt(pack, 1), pass_at_8: passAt(pack, 8) };
}

const start = before.start ?? measured("start", PI0);
const [two, three] = [fixed(2), fixed(3)];
publish(
  import.meta.url,
  { budget: BUDGET, start, methods: figures },
  table(
    ["method", "trains on", "pass@1", "pass@8", "KL", "entropy", "length", "tokens"],
    [
      ["π₀", "", three(start.pass_at_1), three(start.pass_at_8), "0", "", "", ""],
      ...figures.map((row) => [
        row.name,
        row.learnsFrom,
        three(row.pass_at_1),
        three(row.pass_at_8),
        three(row.kl),
        three(row.entropy),
        two(row.length),
        `${Math.round(row.tokens / 1000)}k`,
      ]),
    ],
  ),
);
for (const { name, tokens } of figures) {
  if (Math.abs(tokens / BUDGET - 1) > 0.05) console.log(`! ${name} spent ${tokens} tokens`);
}
