// `npm run alarm-rates`: how often each alarm of training is raised in honest runs, and in runs with
// one fault. Four tasks, ten algorithms, policies of 0.1 million parameters; about ten minutes on two
// quiet cores, one process for each task and two at a time. Writes docs/alarm-rates.json and the tables
// of docs/alarms.md; a test compares the two. `-- --draw` only draws the tables, `-- --task NAME`
// measures one task and prints its runs, `-- --task NAME "FAULT"` one fault of it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureReady } from "./setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
export const RESULTS = path.join(root, "docs/alarm-rates.json");
export const PAGE = path.join(root, "docs/alarms.md");

/** The limits were tuned on runs with the seeds 0 to 3. */
const FIRST_SEED = 100;
const SEEDS = 3;
const PROCESSES = 2;
/** A fall of the pass rate on the holdout set that is real harm: the alarm is then not false. */
const WORSE = 0.1;
const LETTERS = "abcdefgh";
const words = (length) =>
  length === 0 ? [""] : words(length - 1).flatMap((one) => [...LETTERS].map((c) => one + c));
const task = (mark, change) =>
  words(3).map((word) => ({ prompt: `${word}${mark}`, answer: change([...word]).join("") }));

/**
 * Each: questions with an answer, and the updates of the initial policy. It knows about half of the
 * answers; of the last task nearly all, so that honest runs of every algorithm solve it.
 */
const TASKS = {
  copy: { rows: task("=", (letters) => letters), steps: 80 },
  reverse: { rows: task(">", (letters) => letters.reverse()), steps: 90 },
  sort: { rows: task("<", (letters) => letters.sort()), steps: 90 },
  "copy, nearly solved": { rows: task("=", (letters) => letters), steps: 300, solved: true },
};
/** Faults are tried on the first three. */
const isSabotaged = (name) => !TASKS[name].solved;

const scorerOf = (name, reward) => ({
  ...{ name, version: "1.0.0", spec: name, codes: ["pass", "fail", "part"] },
  score(example, completion) {
    const value = reward(example, completion);
    const code = value === 1 ? "pass" : value === 0 ? "fail" : "part";
    return { reward: value, code, details: {} };
  },
});
/** How many characters are such, as a share of `most`. */
const share = (text, isSuch, most) => Math.min(1, [...text].filter(isSuch).length / most);
const SCORERS = {
  exact: scorerOf("exact", ({ answer }, completion) => Number(completion === answer)),
  /** Faults of a reward. */
  never: scorerOf("never", () => 0),
  always: scorerOf("always", () => 1),
  short: scorerOf("short", (_, completion) => Number(completion.length <= 1)),
  long: scorerOf("long", (_, completion) => Math.min(1, completion.length / 20)),
  one: scorerOf("one", (_, completion) =>
    completion.length > 3 ? 0 : share(completion, (c) => c === "a", 3),
  ),
  loops: scorerOf("loops", (_, completion) =>
    share(completion, (c, i) => c === completion[i - 1], 20),
  ),
};

const RL = { rollouts: { prompts: 8, group: 4, max_tokens: 6 } };
const VALIDATED = { evaluate: { every: 6, max_tokens: 6 } };
/** Steps, batch and the like; learning rates and all else are the defaults. */
const SETTINGS = {
  sft: { steps: 48, batch: 16 },
  rft: { steps: 24, batch: 16, rollouts: { max_tokens: 6 }, algorithm: { samples: 4 } },
  ...Object.fromEntries(
    ["dpo", "ipo", "orpo", "kto"].map((name) => [name, { steps: 24, batch: 8 }]),
  ),
  ...Object.fromEntries(
    ["reinforce", "rloo", "grpo", "ppo"].map((name) => [name, { steps: 24, ...RL }]),
  ),
};
const ALGORITHMS = Object.keys(SETTINGS);
const sampled = (algorithm) => ["rft", "reinforce", "rloo", "grpo", "ppo"].includes(algorithm);

/** One fault each, with the alarms of which any tells of it. */
const FAULTS = [
  [
    "the sign of the learning rate",
    ["sft", "dpo", "grpo"],
    { settings: { sabotage: "inverted_rate" } },
    ["learning_backwards", "validation_falls"],
  ],
  [
    "the reference is the policy",
    ["dpo", "grpo"],
    { settings: { sabotage: "aliased_reference" } },
    ["reference_aliased"],
  ],
  [
    "log-probs shifted by a token",
    ["grpo", "ppo"],
    { settings: { sabotage: "shifted_logprobs" } },
    ["logprob_mismatch"],
  ],
  [
    "top-k sampling as if it were all",
    ["grpo", "rloo"],
    { settings: { sabotage: "truncated_sampling" } },
    ["sampling_mismatch"],
  ],
  [
    "a learning rate of 1",
    ["sft", "dpo", "grpo"],
    { settings: { rate: { peak: 1 } } },
    ["ruinous_learning_rate"],
  ],
  ["a scorer that never rewards", ["grpo", "rloo"], { reward: "never" }, ["zero_gradient"]],
  [
    "a scorer that never rewards",
    ["reinforce", "ppo"],
    { reward: "never" },
    ["zero_reward", "zero_gradient"],
  ],
  ["a scorer that always rewards", ["grpo", "ppo"], { reward: "always" }, ["perfect_score"]],
  [
    "a scorer that rewards short answers",
    ["grpo", "rloo"],
    { reward: "short", settings: { steps: 40, rate: { peak: 0.001 } } },
    ["reward_hacking"],
  ],
  [
    "a scorer that rewards length",
    ["grpo", "rloo"],
    {
      reward: "long",
      settings: { steps: 40, rate: { peak: 0.001 }, rollouts: { max_tokens: 24 } },
    },
    ["length_drift", "reward_hacking"],
  ],
  [
    "a scorer that rewards one letter",
    ["grpo", "rloo"],
    // reward_hacking would stop it before.
    { reward: "one", settings: { steps: 60, rate: { peak: 0.001 }, alarms_stop: false } },
    ["repeated_outputs"],
  ],
  [
    "a scorer that rewards repetition",
    ["grpo", "rloo"],
    {
      reward: "loops",
      settings: { steps: 60, rate: { peak: 0.001 }, rollouts: { max_tokens: 24 } },
    },
    ["repetitive_text"],
  ],
  [
    "a learning rate ten times too high",
    ["grpo", "rloo"],
    { settings: { rate: { peak: 0.003 } } },
    ["kl_over_limit", "ruinous_learning_rate"],
  ],
  [
    "completions cut after 1 token",
    ["grpo", "rloo"],
    { settings: { rollouts: { max_tokens: 1 } } },
    ["zero_gradient"],
  ],
];

async function library() {
  ensureReady();
  const at = (name) => import(pathToFileURL(path.join(root, "dist", name)).href);
  const [{ train }, { mergeSettings }, { ALARMS }, { openScorer }] = await Promise.all(
    ["learn/index.js", "learn/recipe.js", "learn/alarms/index.js", "scorers/index.js"].map(at),
  );
  return { train, mergeSettings, ALARMS, openScorer };
}

/** An eighth each for dev and holdout, in an order that has nothing to do with the letters; always the same. */
function splitOf(rows) {
  const numbered = rows.map((row, i) => ({ id: `e${i}`, ...row, completion: row.answer }));
  const part = (from, to) =>
    numbered.filter((_, i) => {
      const place = ((i * 389) % rows.length) / rows.length;
      return from <= place && place < to;
    });
  return { dev: part(0, 1 / 8), holdout: part(1 / 8, 1 / 4), learned: part(1 / 4, 1) };
}

function writeTask(dir, rows) {
  mkdirSync(dir, { recursive: true });
  const { learned, dev, holdout } = splitOf(rows);
  const write = (name, list) => {
    const file = path.join(dir, name);
    writeFileSync(file, list.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return file;
  };
  const other = (i) => learned[(i + 1) % learned.length].answer;
  const examples = ({ id, prompt, answer }) => ({ id, prompt, answer });
  const pairs = learned.flatMap(({ id, prompt, answer }, i) =>
    answer === other(i) ? [] : [{ id, prompt, chosen: answer, rejected: other(i) }],
  );
  const labels = learned.map(({ id, prompt, answer }, i) => ({
    ...{
      id,
      prompt,
      completion: i % 2 ? answer : other(i),
      label: i % 2 === 1 || answer === other(i),
    },
  }));
  return {
    dev: write("dev.jsonl", dev.map(examples)),
    holdout: write("holdout.jsonl", holdout.map(examples)),
    texts: write("texts.jsonl", learned),
    pairs: write("pairs.jsonl", pairs),
    labels: write("labels.jsonl", labels),
    examples: write("examples.jsonl", learned.map(examples)),
  };
}

function datasetOf(files, algorithm) {
  if (sampled(algorithm)) return files.examples;
  return { sft: files.texts, kto: files.labels }[algorithm] ?? files.pairs;
}

/**
 * Trains once; gives each alarm with its step, the pass rate on the holdout set at the end, and whether
 * the task was solved by then. Honest runs do all steps, whatever alarms they raise.
 */
async function run(
  { train, mergeSettings, openScorer },
  place,
  { algorithm, init, files, seed, fault },
) {
  const outdir = path.join(place, "run");
  rmSync(outdir, { recursive: true, force: true });
  const validation = await openScorer(SCORERS.exact);
  const reward = fault?.reward ? await openScorer(SCORERS[fault.reward]) : validation;
  const rates = [];
  const alarms = () =>
    readFileSync(path.join(outdir, "alarms.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  const brief = ({ alarm, step }) => ({ alarm, step });
  try {
    const { summary } = await train({
      ...{ algorithm, dataset: datasetOf(files, algorithm), dev: files.dev, init, size: "nano" },
      ...{ outdir, threads: 1, saveEvery: 1000, validation },
      ...(!fault && { holdout: files.holdout }),
      ...(sampled(algorithm) && { rewards: [reward] }),
      settings: mergeSettings(
        ...[VALIDATED, SETTINGS[algorithm]],
        { seed, stop: { plateau: null }, alarms_stop: !!fault },
        fault?.settings ?? {},
      ),
      onValidation: ({ pass_rate }) => rates.push(pass_rate),
    });
    const found = alarms();
    return {
      ...{ alarms: found.map(brief), stopped: found.some(({ stops }) => stops) },
      ...{ solved: Math.max(...rates) >= 0.9, first: rates[0], holdout: summary.holdout.pass_rate },
    };
  } catch (error) {
    if (!/the loss became/.test(error.message)) throw error;
    return {
      alarms: alarms().map(brief),
      stopped: true,
      exploded: true,
      solved: false,
      holdout: 0,
    };
  } finally {
    await validation.close();
    if (reward !== validation) await reward.close();
  }
}

/** What a policy passes on the holdout set: a run that changes nothing. */
async function holdoutOf({ train, mergeSettings, openScorer }, place, files, init) {
  const scorer = await openScorer(SCORERS.exact);
  const { summary } = await train({
    ...{ algorithm: "grpo", dataset: files.examples, holdout: files.holdout, init, size: "nano" },
    ...{ outdir: path.join(place, "untrained"), threads: 1, saveEvery: 1000, rewards: [scorer] },
    settings: mergeSettings(RL, VALIDATED, { steps: 1, rate: { peak: 0 } }),
  });
  await scorer.close();
  return summary.holdout.pass_rate;
}

/** A policy that knows the format and some of the answers, to begin with. */
async function startOf(api, place, files, steps) {
  const outdir = path.join(place, "start");
  const { checkpoint } = await api.train({
    ...{ algorithm: "sft", dataset: files.texts, init: "scratch", size: "nano", outdir },
    ...{
      threads: 1,
      saveEvery: 10_000,
      settings: { steps, batch: 32, seed: 99 },
    },
  });
  return checkpoint;
}

/** All runs of one task, or those of one fault. */
async function measureTask(task, only) {
  const api = await library();
  const place = mkdtempSync(path.join(tmpdir(), "lockedroom-alarm-rates-"));
  const honest = [];
  const sabotaged = [];
  const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i);
  try {
    const { rows, steps } = TASKS[task];
    const files = writeTask(place, rows);
    const start = await startOf(api, place, files, steps);
    const before = await holdoutOf(api, place, files, start);
    const init = (algorithm) => (algorithm === "sft" ? "scratch" : start);
    for (const algorithm of only ? [] : ALGORITHMS) {
      for (const seed of seeds) {
        const found = await run(api, place, { algorithm, init: init(algorithm), files, seed });
        const worse = found.holdout <= (algorithm === "sft" ? 0 : before) - WORSE;
        honest.push({ task, algorithm, seed, ...found, worse });
      }
      say(`${task} ${algorithm} from ${honest.at(-1).first}`, honest.slice(-SEEDS));
    }
    for (const [fault, algorithms, given, expected] of isSabotaged(task) ? FAULTS : []) {
      if (only && fault !== only) continue;
      for (const algorithm of algorithms) {
        for (const seed of seeds) {
          const one = { algorithm, init: init(algorithm), files, seed, fault: given };
          const { alarms, exploded = false } = await run(api, place, one);
          sabotaged.push({ fault, algorithm, expected, task, seed, alarms, exploded });
        }
        say(`${task} ${algorithm}, ${fault}`, sabotaged.slice(-SEEDS));
      }
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  return { honest, sabotaged };
}

/** A task in a process of its own. */
function inProcess(task) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--task", task], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0
        ? resolve(JSON.parse(Buffer.concat(parts).toString("utf8")))
        : reject(new Error(`the task ${task} ended with ${code}`)),
    );
  });
}

async function measure() {
  const { ALARMS } = await library();
  const waiting = Object.keys(TASKS);
  const found = new Map();
  const work = async () => {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      found.set(task, await inProcess(task));
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, work));
  const all = Object.keys(TASKS).map((task) => found.get(task));
  return summarise(
    ALARMS,
    all.flatMap(({ honest }) => honest),
    all.flatMap(({ sabotaged }) => sabotaged),
  );
}

function say(what, runs) {
  const raised = runs.map(({ alarms }) => alarms.map(({ alarm, step }) => `${alarm}@${step}`));
  process.stderr.write(`${what}: ${raised.map((list) => list.join(" ") || "none").join(" | ")}\n`);
}

function summarise(names, honest, sabotaged) {
  const raisedIn = (runs, name) =>
    runs.filter(({ alarms }) => alarms.some(({ alarm }) => alarm === name)).length;
  const solved = honest.filter((one) => one.solved);
  const worse = honest.filter((one) => one.worse);
  const kinds = [...new Set(sabotaged.map(({ fault, algorithm }) => `${fault}\t${algorithm}`))];
  return {
    honest: {
      runs: honest.length,
      solved: solved.length,
      worse: worse.length,
      tasks: Object.keys(TASKS),
      algorithms: ALGORITHMS,
      seeds: [FIRST_SEED, FIRST_SEED + SEEDS - 1],
      worse_on: "holdout",
      stopped: honest.filter(({ stopped }) => stopped).length,
      raised: Object.fromEntries(
        names.map((name) => [
          name,
          {
            all: raisedIn(honest, name),
            solved: raisedIn(solved, name),
            worse: raisedIn(worse, name),
          },
        ]),
      ),
    },
    sabotaged: kinds.map((kind) => {
      const [fault, algorithm] = kind.split("\t");
      const runs = sabotaged.filter((one) => one.fault === fault && one.algorithm === algorithm);
      const steps = runs
        .map(({ alarms, expected }) => alarms.find(({ alarm }) => expected.includes(alarm))?.step)
        .filter((step) => step !== undefined)
        .sort((a, b) => a - b);
      const others = names.filter(
        (name) => !runs[0].expected.includes(name) && raisedIn(runs, name) > 0,
      );
      return {
        ...{ fault, algorithm, expected: runs[0].expected, runs: runs.length },
        ...{ detected: steps.length, median_step: steps[Math.floor(steps.length / 2)] ?? null },
        exploded: runs.filter(({ exploded }) => exploded).length,
        others,
      };
    }),
  };
}

/** The tables of the page. */
export function tablesOf({ honest, sabotaged }) {
  const { runs, solved, worse, raised } = honest;
  const rate = (count, of) => `${count} of ${of} (${percents(wilson(count, of))})`;
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const table = (head, rows) =>
    [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
  const code = (names) => names.map((name) => `\`${name}\``).join(", ");
  return [
    table(
      [
        "alarm",
        "raised in honest runs",
        `in the ${solved} that solved the task`,
        `in the ${worse} that got worse`,
      ],
      Object.entries(raised).map(([name, counts]) => {
        if (counts === null) return [`\`${name}\``, "not measured", "", ""];
        const { all, solved: inSolved, worse: inWorse } = counts;
        return [`\`${name}\``, rate(all, runs), ...(all === 0 ? ["", ""] : [inSolved, inWorse])];
      }),
    ),
    table(
      ["fault", "algorithm", "alarm", "detected", "median step", "besides"],
      sabotaged.map(({ fault, algorithm, expected, runs: all, detected, median_step, others }) => [
        ...[fault, `\`${algorithm}\``, code(expected), rate(detected, all), median_step ?? ""],
        code(others),
      ]),
    ),
    notes({ honest, sabotaged }),
  ].join("\n\n");
}

/** 95 % interval of a rate. */
function wilson(count, of) {
  const z = 1.959964;
  const middle = (count + (z * z) / 2) / (of + z * z);
  const half = (z / (of + z * z)) * Math.sqrt((count * (of - count)) / of + (z * z) / 4);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

const percents = ([low, high]) => `${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)} %`;

/** What the figures are worth, from the figures. */
function notes({ honest, sabotaged }) {
  const { runs, solved, worse, tasks, seeds, stopped, raised } = honest;
  const provoked = new Set(sabotaged.flatMap(({ expected }) => expected));
  const silent = Object.keys(raised).filter((name) => !provoked.has(name));
  const code = (names) => names.map((name) => `\`${name}\``).join(", ");
  return [
    ...(honest.worse_on === "holdout"
      ? []
      : [
          '- These figures are from before the fourth task, the holdout set and further seeds were added: one seed for each sabotaged run, and "got worse" is measured on the validation set that the alarms watch.',
        ]),
    `- ${runs} honest runs on the tasks ${tasks.join("; ")}; ${solved} solve their task, ${worse} get worse, and ${stopped} raise an alarm that stops a run where it may. In brackets: 95 % intervals.`,
    `- Random seeds ${seeds.join(" to ")}. The limits were tuned on runs with the seeds 0 to 3, so ${seeds[0] > 3 ? "these are other runs of the same tasks" : "these are the same runs, and the rates are somewhat too good"}.`,
    `- No fault is meant to raise ${code(silent)}.`,
  ].join("\n");
}

/** The page with the tables between its two marks. */
export function filledPage(page, results) {
  const [before, rest] = page.split("<!-- results -->\n");
  const after = rest.slice(rest.indexOf("<!-- /results -->"));
  return `${before}<!-- results -->\n${tablesOf(results)}\n${after}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [how, task, fault] = process.argv.slice(2);
  if (how === "--task") {
    process.stdout.write(JSON.stringify(await measureTask(task, fault)));
  } else {
    const results = how === "--draw" ? JSON.parse(readFileSync(RESULTS, "utf8")) : await measure();
    writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
    writeFileSync(PAGE, filledPage(readFileSync(PAGE, "utf8"), results));
  }
}
