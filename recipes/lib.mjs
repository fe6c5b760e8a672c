// Shared by the recipes: running commands, reading runs, and writing tables into a README.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const PI0 = "assets/pi0";
export const TRAIN = "data/datasets/math_train.jsonl";
export const DEV = "data/datasets/math_dev.jsonl";
export const HOLDOUT = "data/datasets/math_holdout.jsonl";
const COMMAND = path.join(root, "dist/cli/bin.js");

/** Runs the command in the root of the repository and returns its output. */
export function lockedroom(...args) {
  return attempt([0], ...args).stdout;
}

export function attempt(allowed, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args.map(String)], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (!allowed.includes(status)) {
    throw new Error(`lockedroom ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  }
  return { status, stdout, stderr };
}

/** The folder for a run of a recipe; an existing one is deleted. */
export function runFolder(...names) {
  const folder = path.join("runs/recipes", ...names);
  rmSync(path.join(root, folder), { recursive: true, force: true });
  return folder;
}

export function readJson(...parts) {
  return JSON.parse(readFileSync(path.join(root, ...parts), "utf8"));
}

export function readLines(...parts) {
  const file = path.join(root, ...parts);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Trains with the given flags and settings; returns the run folder. The steps are those of the recipe, not those until a plateau. */
export function train(folder, algorithm, { dataset = TRAIN, init = PI0, dev = DEV, ...flags }) {
  const { set: given = {}, extra = [], ...rest } = flags;
  const set = { "stop.plateau": null, ...given };
  const named = Object.entries(rest).flatMap(([name, value]) => [`--${name}`, value]);
  const sets = Object.entries(set).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const files = ["--init", init, "--dataset", dataset, "--dev", dev, "--outdir", folder];
  lockedroom("train", algorithm, ...files, "--threads", 2, ...named, ...sets, ...extra);
  return folder;
}

/** Samples and scores one completion per example; returns the folder of the evaluation. */
export function measure(folder, policy, dataset, temperature = 1) {
  const rollout = runFolder(folder, "rollout");
  const sampling = ["--n", 1, "--temperature", temperature, "--max-tokens", 32, "--seed", 0];
  const options = ["--policy", policy, "--dataset", dataset, ...sampling];
  lockedroom("rollout", "--quiet", ...options, "--outdir", rollout);
  const scored = runFolder(folder, "scored");
  const completions = path.join(rollout, "completions.jsonl");
  lockedroom(
    "eval",
    "--quiet",
    "--dataset",
    dataset,
    "--completions",
    completions,
    "--outdir",
    scored,
  );
  return scored;
}

/** Samples `n` per example and selects the best; returns the folder of the selection. */
export function select(folder, policy, dataset, n = 8) {
  const pack = runFolder(folder, "pack");
  const sampling = ["--n", n, "--temperature", 1, "--max-tokens", 32, "--seed", 0];
  const options = ["--policy", policy, "--dataset", dataset, ...sampling];
  lockedroom("rollout", "--quiet", ...options, "--outdir", pack);
  const chosen = runFolder(folder, "chosen");
  const samples = path.join(pack, "samples.jsonl");
  const flags = ["--dataset", dataset, "--samples", samples, "--n", n, "--outdir", chosen];
  lockedroom("selection-demo", "--quiet", ...flags);
  return chosen;
}

/** Plays one episode of each holdout task and replays it for a scored run; returns its folder. */
export function playHoldout(folder, policy, { env, maxTokens, temperature = 1, tasks }) {
  const rollout = runFolder(folder, "rollout");
  lockedroom(
    ...["rollout", "--quiet", "--env", env, "--split", "holdout", "--policy", policy, "--n", 1],
    ...["--temperature", temperature, "--max-tokens", maxTokens, "--seed", 0],
    ...[...(tasks ? ["--tasks", tasks] : []), "--outdir", rollout],
  );
  const scored = runFolder(folder, "scored");
  lockedroom("eval", "--quiet", "--trajectories", rollout, "--outdir", scored);
  return scored;
}

/** The decision of the gate for the claim that the policy changed. */
export function gateDecision(baseline, candidate) {
  const runs = ["--baseline", baseline, "--candidate", candidate];
  const flags = [...runs, "--claim", "policy", "--format", "json"];
  const { decision, knobs } = JSON.parse(attempt([0, 1, 2, 3], "gate", ...flags).stdout);
  return { decision, knobs };
}

/** `PROMOTE (changed: policy)` */
export const shownDecision = ({ decision, knobs }) =>
  `${decision} (changed: ${knobs.join(", ") || "none"})`;

/** How often each outcome code occurred. */
export function outcomesOf(folder) {
  const { counts } = readJson(folder, "summary.json").outcomes;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** Validations of a training run: step, and the share of tasks with one of the codes. */
export function validationsOf(run, codes) {
  return readLines(run, "evaluations.jsonl").map(({ step, examples, outcomes }) => ({
    step,
    share: codes.reduce((sum, code) => sum + (outcomes[code] ?? 0), 0) / examples,
  }));
}

/** The evaluation of the kept policy. */
export function keptEvaluation(run) {
  const { kept } = readJson(run, "summary.json").stop;
  const evaluations = readLines(run, "evaluations.jsonl");
  return evaluations.find(({ step }) => step === kept) ?? evaluations.at(-1);
}

export function passRate(folder) {
  return readJson(folder, "summary.json").metrics.pass_rate;
}

/** The unbiased pass@k of a selection. */
export function passAt(folder, k) {
  return readJson(folder, "summary.json").metrics.pass_at_k.find((row) => row.k === k).value;
}

export function secondsOf(run) {
  return readLines(run, "timing.jsonl").reduce(
    (sum, { sampling_s, scoring_s, logprobs_s, updating_s, evaluating_s }) =>
      sum + sampling_s + scoring_s + logprobs_s + updating_s + evaluating_s,
    0,
  );
}

export function tokensOf(run) {
  return readLines(run, "metrics.jsonl").reduce(
    (sum, { tokens, sampled_tokens = 0 }) => sum + tokens + sampled_tokens,
    0,
  );
}

export function table(header, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

export const fixed = (digits) => (value) => value.toFixed(digits);

/** Writes results.json, and the table between the markers of the README. */
export function publish(url, figures, text) {
  const folder = path.dirname(fileURLToPath(url));
  writeFileSync(path.join(folder, "results.json"), `${JSON.stringify(figures, null, 2)}\n`);
  const readme = path.join(folder, "README.md");
  const before = readFileSync(readme, "utf8");
  const between = /(<!-- results -->\n)[\s\S]*?(<!-- \/results -->)/;
  if (!between.test(before)) throw new Error(`${readme} has no <!-- results --> markers`);
  writeFileSync(
    readme,
    before.replace(between, (_, open, close) => `${open}${text}\n${close}`),
  );
  console.log(text);
}
