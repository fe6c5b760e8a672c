// `npm run diagnose-cases`: trains the runs whose curves `lockedroom diagnose` shows, each with the
// ablation that confirms its cause, and writes their figures to assets/diagnose. `-- NAME …` makes
// only these. The same bytes every time; a test makes one case again.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureReady } from "./setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
export const FOLDER = path.join(root, "assets/diagnose");
const TRAIN = path.join(root, "data/datasets/math_train.jsonl");
const DEV = path.join(root, "data/datasets/math_dev.jsonl");
const DEV_ROWS = 100;

/** What all runs share unless a case changes it. Two passes over a batch, so that tokens are clipped. */
const GRPO = {
  ...{ steps: 40, seed: 1, alarms_stop: false, rate: { peak: 0.0003 } },
  rollouts: { prompts: 16, group: 8, max_tokens: 32 },
  ...{ evaluate: { every: 5, max_tokens: 32 }, kl: { diagnostic_share: 1 } },
  algorithm: { epochs: 2 },
};
const LENGTH = "rewards long completions, up to 32 characters";
const NEVER = "expects an answer format that the prompt does not ask for";

/** By file name. The ablation is the same run with these settings, or with this reward, changed. */
export const CASES = {
  "steady-grpo": {
    ...{
      cause: "nothing-wrong",
      algorithm: "grpo",
      settings: {},
      ablation: { settings: { seed: 2 } },
    },
  },
  "steady-ppo": {
    ...{
      cause: "nothing-wrong",
      algorithm: "ppo",
      settings: {},
      ablation: { settings: { seed: 2 } },
    },
  },
  "inverted-advantages": {
    ...{ cause: "wrong-sign", algorithm: "grpo" },
    settings: { sabotage: "inverted_advantages" },
    ablation: { settings: { sabotage: null } },
  },
  "aliased-reference": {
    ...{ cause: "aliased-reference", algorithm: "grpo" },
    settings: { sabotage: "aliased_reference", kl: { mode: "fixed", coefficient: 0.05 } },
    ablation: { settings: { kl: { coefficient: 0.0005 } } },
  },
  "shifted-logprobs": {
    ...{ cause: "wrong-log-probs", algorithm: "grpo" },
    settings: { sabotage: "shifted_logprobs" },
    ablation: { settings: { sabotage: null } },
  },
  "high-learning-rate": {
    ...{ cause: "learning-rate-too-high", algorithm: "grpo" },
    settings: { rate: { peak: 0.005 } },
    ablation: { settings: { rate: { peak: 0.0003 } } },
  },
  "length-reward": {
    ...{ cause: "reward-favours-length", algorithm: "grpo", reward: "length" },
    ...{ settings: {}, ablation: { reward: "exact" } },
  },
  "no-reward": {
    ...{ cause: "no-reward", algorithm: "grpo", reward: "never" },
    ...{ settings: {}, ablation: { reward: "exact" } },
  },
  "strong-kl-penalty": {
    ...{ cause: "kl-penalty-too-strong", algorithm: "grpo" },
    settings: { kl: { mode: "fixed", place: "reward", coefficient: 2 } },
    ablation: { settings: { kl: { coefficient: 0.02 } } },
  },
  "short-limit": {
    ...{ cause: "completions-cut", algorithm: "grpo" },
    settings: { rollouts: { max_tokens: 6 } },
    ablation: { settings: { rollouts: { max_tokens: 32 } } },
  },
  "untrained-value-head": {
    ...{ cause: "value-head-untrained", algorithm: "ppo" },
    settings: { algorithm: { value_coefficient: 0 } },
    ablation: { settings: { algorithm: { value_coefficient: 0.1 } } },
  },
};

async function library() {
  ensureReady();
  const at = (name) => import(pathToFileURL(path.join(root, "dist", name)).href);
  const [{ train }, { mergeSettings }, { openScorer }, { readTrainingRun }] = await Promise.all(
    ["learn/index.js", "learn/recipe.js", "scorers/index.js", "runs/index.js"].map(at),
  );
  return { train, mergeSettings, openScorer, readTrainingRun };
}

const scorerOf = (name, spec, reward) => ({
  ...{ name, version: "1.0.0", spec, codes: ["scored"] },
  score: (_, completion) => ({ reward: reward(completion), code: "scored", details: {} }),
});
const REWARDS = {
  exact: undefined,
  length: scorerOf("length", LENGTH, (completion) => Math.min(1, completion.length / 32)),
  never: scorerOf("never", NEVER, () => 0),
};

/** Four significant digits: more than a chart shows, and less than differs between processors. */
const rounded = (value) => (Math.abs(value) < 1e-9 ? 0 : Number(value.toPrecision(4)));

const CURVES = {
  reward: (values) => values["reward/mean"],
  kl: (values) => values["kl/k3"],
  entropy: (values) => values.entropy,
  length: (values) => values["length/mean"],
  value_loss: (values) => values["value/loss"],
  clip_fraction: (values) => values["clip/low"] + values["clip/high"],
};

function figuresOf({ steps, evaluations, alarms = [] }) {
  const curve = (read) =>
    steps.flatMap(({ values }) => (Number.isFinite(read(values)) ? [rounded(read(values))] : []));
  return {
    steps: steps.map(({ step }) => step),
    curves: Object.fromEntries(
      Object.entries(CURVES)
        .map(([name, read]) => [name, curve(read)])
        .filter(([, values]) => values.length > 0),
    ),
    validation: {
      steps: evaluations.map(({ step }) => step),
      pass_rate: evaluations.map(({ pass_rate }) => rounded(pass_rate)),
    },
    alarms: [...new Set(alarms.map(({ alarm }) => alarm))],
  };
}

/** Runs by their options: the ablation of several faults is the same honest run. */
const made = new Map();

async function trained(api, place, options) {
  const key = JSON.stringify(options, (_, value) => value ?? undefined);
  if (!made.has(key)) made.set(key, await trainOnce(api, place, options));
  return made.get(key);
}

async function trainOnce(api, place, { algorithm, settings, reward }) {
  const outdir = path.join(place, "run");
  rmSync(outdir, { recursive: true, force: true });
  const exact = await api.openScorer();
  const given = REWARDS[reward];
  const rewarding = given ? await api.openScorer(given) : exact;
  try {
    await api.train({
      ...{
        algorithm,
        init: "pi0",
        size: "nano",
        dataset: TRAIN,
        dev: path.join(place, "dev.jsonl"),
      },
      ...{ outdir, threads: 1, saveEvery: 1000, rewards: [rewarding], settings },
      ...(given && { validation: exact }),
    });
    return figuresOf(await api.readTrainingRun(outdir));
  } finally {
    await exact.close();
    if (given) await rewarding.close();
  }
}

/** The text of a case's file. */
export async function makeCase(name) {
  const { cause, algorithm, settings, reward = "exact", ablation } = CASES[name];
  const api = await library();
  const place = mkdtempSync(path.join(tmpdir(), "lockedroom-diagnose-"));
  try {
    const rows = readFileSync(DEV, "utf8").split("\n").slice(0, DEV_ROWS);
    writeFileSync(path.join(place, "dev.jsonl"), `${rows.join("\n")}\n`);
    const own = api.mergeSettings(GRPO, settings);
    const run = await trained(api, place, { algorithm, reward, settings: own });
    const changed = {
      ...{ algorithm, reward: ablation.reward ?? reward },
      settings: api.mergeSettings(own, ablation.settings ?? {}),
    };
    const content = {
      schema: "lockedroom.diagnose-case@1",
      ...{ name, cause, algorithm, reward, settings: own, run },
      ablation: { ...ablation, run: await trained(api, place, changed) },
    };
    return `${JSON.stringify(content)}\n`;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const wanted = process.argv.slice(2);
  mkdirSync(FOLDER, { recursive: true });
  for (const name of Object.keys(CASES).filter(
    (one) => wanted.length === 0 || wanted.includes(one),
  ))
    writeFileSync(path.join(FOLDER, `${name}.json`), await makeCase(name));
}
