// `npm run alarm-rates`: how often each alarm of training is raised in honest runs, and in runs with
// one fault. Three tasks, ten algorithms, policies of 0.1 million parameters; a quarter of an hour on
// a busy core. Writes docs/alarm-rates.json and the tables of docs/alarms.md; a test compares the two.
// `-- --fault "WORDS"` measures one fault again, `-- --draw` only draws the tables.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureReady } from "./setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
export const RESULTS = path.join(root, "docs/alarm-rates.json");
export const PAGE = path.join(root, "docs/alarms.md");

const SEEDS = 4;
const SABOTAGED_SEEDS = 1;
/** A fall of the pass rate from the first validation to the last that is real harm: the alarm is then not false. */
const WORSE = 0.1;
const LETTERS = "abcdefgh";
const words = (length) =>
  length === 0 ? [""] : words(length - 1).flatMap((one) => [...LETTERS].map((c) => one + c));
const task = (mark, change) =>
  words(3).map((word) => ({ prompt: `${word}${mark}`, answer: change([...word]).join("") }));

/** Each: questions with an answer; a policy that knows about half of them is the start. */
const TASKS = {
  copy: task("=", (letters) => letters),
  reverse: task(">", (letters) => letters.reverse()),
  sort: task("<", (letters) => letters.sort()),
};
const START_STEPS = { copy: 80, reverse: 90, sort: 90 };

const scorerOf = (name, reward) => ({
  ...{ name, version: "1.0.0", spec: name, codes: ["pass", "fail", "part"] },
  score(example, completion) {
    const value = reward(example, completion);
    const code = value === 1 ? "pass" : value === 0 ? "fail" : "part";
    return { reward: value, code, details: {} };
  },
});
const SCORERS = {
  exact: scorerOf("exact", ({ answer }, completion) => Number(completion === answer)),
  /** Faults of a reward. */
  never: scorerOf("never", () => 0),
  always: scorerOf("always", () => 1),
  short: scorerOf("short", (_, completion) => Number(completion.length <= 1)),
  long: scorerOf("long", (_, completion) => Math.min(1, completion.length / 20)),
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
    "completions cut after 1 token",
    ["grpo", "rloo"],
    { settings: { rollouts: { max_tokens: 1 } } },
    ["zero_gradient"],
  ],
];

async function library() {
  ensureReady();
  const at = (name) => import(pathToFileURL(path.join(root, "dist", name, "index.js")).href);
  const [{ train }, { ALARMS }, { openScorer }] = await Promise.all(
    ["learn", "learn/alarms", "scorers"].map(at),
  );
  return { train, ALARMS, openScorer };
}

/** An eighth is held out, in an order that has nothing to do with the letters; the split is fixed. */
function splitOf(rows) {
  const numbered = rows.map((row, i) => ({ id: `e${i}`, ...row, completion: row.answer }));
  const isHeld = (_, i) => (i * 389) % rows.length < rows.length / 8;
  return {
    learned: numbered.filter((row, i) => !isHeld(row, i)),
    held: numbered.filter(isHeld),
  };
}

function writeTask(dir, rows) {
  mkdirSync(dir, { recursive: true });
  const { learned, held } = splitOf(rows);
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
    dev: write("dev.jsonl", held.map(examples)),
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

function merged(one, other) {
  const isGroup = (value) => value !== null && typeof value === "object";
  return Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [
      key,
      isGroup(one[key]) && isGroup(other[key])
        ? merged(one[key], other[key])
        : (other[key] ?? one[key]),
    ]),
  );
}

/** Trains once; gives each alarm with its step, and whether the task was solved by then. */
async function run({ train, openScorer }, place, { algorithm, init, files, seed, fault = {} }) {
  const outdir = path.join(place, "run");
  rmSync(outdir, { recursive: true, force: true });
  const validation = await openScorer(SCORERS.exact);
  const reward = fault.reward ? await openScorer(SCORERS[fault.reward]) : validation;
  const alarms = [];
  const rates = new Map();
  try {
    const { summary } = await train({
      ...{ algorithm, dataset: datasetOf(files, algorithm), dev: files.dev, init, size: "nano" },
      ...{ outdir, threads: 1, saveEvery: 1000, validation },
      ...(sampled(algorithm) && { rewards: [reward] }),
      settings: merged(
        merged(merged(VALIDATED, SETTINGS[algorithm]), { seed }),
        fault.settings ?? {},
      ),
      onValidation: ({ step, pass_rate }) => rates.set(step, pass_rate),
      onStep: (step, record) => rates.set(`train ${step}`, record["reward/mean"] ?? 0),
      onAlarm: ({ alarm, step }) => alarms.push({ alarm, step }),
    });
    const best = Math.max(...rates.values());
    const validated = [...rates].filter(([step]) => typeof step === "number");
    const [first, last] = [validated[0][1], validated.at(-1)[1]];
    const stopped = summary.stop.reason !== "all steps done";
    return { alarms, stopped, solved: best >= 0.9, worse: last <= first - WORSE, first };
  } catch (error) {
    if (!/the loss became/.test(error.message)) throw error;
    return { alarms, stopped: true, exploded: true, solved: false };
  } finally {
    await validation.close();
    if (reward !== validation) await reward.close();
  }
}

/** A policy that knows the format and some of the answers, to begin with. */
async function startOf(api, place, files, task) {
  const outdir = path.join(place, `start-${task}`);
  const { checkpoint } = await api.train({
    ...{ algorithm: "sft", dataset: files.texts, init: "scratch", size: "nano", outdir },
    ...{
      threads: 1,
      saveEvery: 10_000,
      settings: { steps: START_STEPS[task], batch: 32, seed: 99 },
    },
  });
  return checkpoint;
}

/** All runs, or those of one fault. */
async function measure(only) {
  const api = await library();
  const place = mkdtempSync(path.join(tmpdir(), "lockedroom-alarm-rates-"));
  const honest = [];
  const sabotaged = [];
  try {
    for (const [task, rows] of Object.entries(TASKS)) {
      const files = writeTask(path.join(place, task), rows);
      const start = await startOf(api, place, files, task);
      const init = (algorithm) => (algorithm === "sft" ? "scratch" : start);
      for (const algorithm of only ? [] : ALGORITHMS) {
        for (let seed = 0; seed < SEEDS; seed++) {
          const found = await run(api, place, { algorithm, init: init(algorithm), files, seed });
          honest.push({ task, algorithm, seed, ...found });
        }
        say(`${task} ${algorithm} from ${honest.at(-1).first}`, honest.slice(-SEEDS));
      }
      for (const [fault, algorithms, given, expected] of FAULTS) {
        if (only && fault !== only) continue;
        for (const algorithm of algorithms) {
          for (let seed = 0; seed < SABOTAGED_SEEDS; seed++) {
            const one = { algorithm, init: init(algorithm), files, seed, fault: given };
            const { alarms, exploded = false } = await run(api, place, one);
            sabotaged.push({ fault, algorithm, expected, task, seed, alarms, exploded });
          }
          say(`${task} ${algorithm}, ${fault}`, sabotaged.slice(-SABOTAGED_SEEDS));
        }
      }
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  return summarise(api.ALARMS, honest, sabotaged);
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
      seeds: SEEDS,
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
  const rate = (count, of) => `${count} of ${of} (${((100 * count) / of).toFixed(1)} %)`;
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
      Object.entries(raised).map(([name, { all, solved: inSolved, worse: inWorse }]) => [
        ...[`\`${name}\``, rate(all, runs), all === 0 ? "" : inSolved],
        all === 0 ? "" : inWorse,
      ]),
    ),
    table(
      ["fault", "algorithm", "alarm", "detected", "median step", "besides"],
      sabotaged.map(({ fault, algorithm, expected, runs: all, detected, median_step, others }) => [
        ...[fault, `\`${algorithm}\``, code(expected), rate(detected, all), median_step ?? ""],
        code(others),
      ]),
    ),
  ].join("\n\n");
}

/** The page with the tables between its two marks. */
export function filledPage(page, results) {
  const [before, rest] = page.split("<!-- results -->\n");
  const after = rest.slice(rest.indexOf("<!-- /results -->"));
  return `${before}<!-- results -->\n${tablesOf(results)}\n${after}`;
}

/** Earlier results with one fault measured again. */
async function again(before, fault) {
  const { sabotaged } = await measure(fault);
  const same = (one) => (other) => other.fault === one.fault && other.algorithm === one.algorithm;
  return {
    ...before,
    sabotaged: before.sabotaged.map((one) => sabotaged.find(same(one)) ?? one),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [how, fault] = process.argv.slice(2);
  const before = () => JSON.parse(readFileSync(RESULTS, "utf8"));
  const results =
    how === "--draw"
      ? before()
      : how === "--fault"
        ? await again(before(), fault)
        : await measure();
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(PAGE, filledPage(readFileSync(PAGE, "utf8"), results));
}
