/**
 * Criteria about training, checked with runs of a policy so small that training it takes a moment. The runs
 * are real, so that what is reckoned again is what a training writes; the fakes are edits of them.
 */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Environment,
  escapeMarkup,
  type GuardedScorer,
  type JsonObject,
  type PlayableEnvironment,
  sha256,
} from "../../core/index.ts";
import { type MeasurePair, tradeoffOf } from "../../curves/index.ts";
import { singleTurn } from "../../environments/index.ts";
import { type TrainOptions, train } from "../../learn/index.ts";
import { sweep } from "../../learn/sweep.ts";
import { makePairs } from "../../loops/index.ts";
import { CharacterTokenizer, initialise, SIZES, saveCheckpoint } from "../../policy/index.ts";
import { trainingReport } from "../../report/index.ts";
import { readTrainingRun, type TrainManifest } from "../../runs/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { answerFile, CAUSES, keepAnswer, openCase } from "../diagnose/index.ts";
import { DEFAULT_CONFIG, MARKER } from "../workspace.ts";
import { WorkspaceRuns } from "../workspace-runs.ts";
import { deliverables } from "./activity.ts";
import { type Criterion, evaluateCriterion, type Finding, type PlanContext } from "./criterion.ts";
import { loopStatus, reviewed } from "./loop.ts";
import { Pages } from "./pages.ts";
import { PHASE_0 } from "./phase-0.ts";
import { PHASE_1 } from "./phase-1.ts";
import { PHASE_2 } from "./phase-2.ts";
import { PHASE_3 } from "./phase-3.ts";
import { PHASE_4 } from "./phase-4.ts";
import { settingsFingerprint, type Training } from "./training.ts";
import { ablationsAmong, isAblation } from "./training-knobs.ts";
import { Trainings } from "./trainings.ts";

const STUDY = "portfolio/case_study/README.md";
const CRITERIA = [...PHASE_0, ...PHASE_1, ...PHASE_2, ...PHASE_3, ...PHASE_4];

/** Seventeen trainings: ten seconds when nothing else runs. */
const BUSY_MACHINE_MS = 300_000;

/** A workspace that has everything; tests take copies. */
let whole: string;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
}, BUSY_MACHINE_MS);

function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), "lockedroom-trained-")));
  folders.push(made);
  return made;
}

function write(dir: string, name: string, content: string | readonly object[]): void {
  const file = path.join(dir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(file, typeof content === "string" ? content : lines(content));
}

const scorer = (name: string, reward: string) => `export const name = "${name}";
export const version = "1.0.0";
export const spec = "test";
export const score = (example: unknown, completion: string) => {
  const reward = ${reward};
  return { reward, code: reward >= 1 ? "right" : "wrong", details: {} };
};
`;

const tokenizer = new CharacterTokenizer("0123456789+= ");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};

/** Sums with this second number: each set has one of its own. */
const sumsWith = (b: number, count: number) =>
  Array.from({ length: count }, (_, a) => ({
    ...{ id: `s${a}-${b}`, prompt: `${a}+${b}=`, expected_answer: a + b },
  }));

const SETTINGS = {
  ...{ steps: 4, batch: 4, alarms_stop: false },
  rollouts: { prompts: 3, group: 4, max_tokens: 5 },
  evaluate: { every: 2, max_tokens: 5 },
  rate: { peak: 0.003, warmup: 0 },
};

/** Long enough for a significant effect. */
const LEARNING = { steps: 12 };

/** Objective against objective. */
const TRADED = { y: "reward/small", x: "reward/brevity" };

const swept = (name: string, over: string, values: readonly unknown[]) =>
  values.map((value) => `${name}/${over}=${String(value)}`);

/** The pages about the runs; one run has only one, so that a fake of it is not outweighed. */
const PAGES = {
  dpo: ["dpo"],
  others: ["sft", "rft", "both", "priced"],
  leash: swept("leash", "kl.coefficient", [0, 0.1, 1, 30]),
  traded: swept("traded", "weights", [
    [1, 0],
    [1, 2],
    [0, 1],
  ]),
  failure: ["backwards", "repaired", "ablated"],
};

interface More extends Pick<Partial<TrainOptions>, "rewards" | "cost" | "validation"> {
  readonly settings?: JsonObject;
}

function optionsOf(algorithm: string, name: string, data: string, more: More): TrainOptions {
  const file = (one: string) => path.join(whole, "data", `${one}.jsonl`);
  return {
    ...{ algorithm, init: path.join(whole, "start"), size: "nano", threads: 1, saveEvery: 100 },
    ...{ dataset: file(data), dev: file("dev"), outdir: path.join(whole, "runs", name) },
    ...more,
    settings: { ...SETTINGS, ...more.settings },
  };
}

beforeAll(async () => {
  whole = folder();
  write(whole, MARKER, JSON.stringify(DEFAULT_CONFIG));
  write(whole, "scoring.ts", scorer("small", "Number(/^[0-4]/.test(completion))"));
  write(whole, "brevity.ts", scorer("brevity", "1 / (1 + completion.length)"));
  await saveCheckpoint(path.join(whole, "start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 24 },
    // Eight times the usual spread: some answers are likelier than others.
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  write(whole, "data/examples.jsonl", sumsWith(1, 8));
  write(whole, "data/dev.jsonl", sumsWith(2, 24));
  const asked = sumsWith(1, 8).map(({ id, prompt }, i) => ({ id, prompt, i }));
  write(
    whole,
    "data/texts.jsonl",
    asked.map(({ id, prompt, i }) => ({ id, prompt, completion: `${i + 1}` })),
  );
  write(
    whole,
    "data/samples.jsonl",
    asked.map(({ id, i }) => ({ id, samples: [`${i % 5}2`, "9+9"] })),
  );
  const scorings: GuardedScorer[] = [];
  for (const file of ["scoring.ts", "brevity.ts"])
    scorings.push(await openScorer(path.join(whole, file)));
  const [small, brevity] = scorings as [GuardedScorer, GuardedScorer];
  await makePairs({
    ...{ dataset: path.join(whole, "data/examples.jsonl"), scorer: small },
    ...{ rollouts: path.join(whole, "data/samples.jsonl"), outdir: path.join(whole, "runs/pairs") },
    ...{ by: "best-worst", margin: 0, lengthTolerance: null, perPrompt: 1 },
  });
  const run = (algorithm: string, name: string, data: string, more: More) =>
    train(optionsOf(algorithm, name, data, more));
  await run("sft", "sft", "texts", { validation: small });
  await run("dpo", "dpo", "../runs/pairs/pairs", { validation: small });
  await run("rft", "rft", "examples", { rewards: [small] });
  await run("grpo", "both", "examples", { rewards: [small, brevity] });
  await run("reinforce", "priced", "examples", {
    ...{ rewards: [small], cost: brevity },
    settings: { cost: { limit: 0.1 } },
  });
  await sweep({
    ...optionsOf("grpo", "leash", "examples", { rewards: [small] }),
    settings: { ...SETTINGS, steps: 10, rate: { peak: 0.01, warmup: 0 }, kl: { mode: "fixed" } },
    ...{ over: "kl.coefficient", values: [0, 0.1, 1, 30] },
  });
  await sweep({
    ...optionsOf("grpo", "traded", "examples", { rewards: [small, brevity] }),
    settings: { ...SETTINGS, steps: 8, rate: { peak: 0.02, warmup: 0 } },
    ...{
      over: "weights",
      values: [
        [1, 0],
        [1, 2],
        [0, 1],
      ],
      tradeoff: TRADED,
    },
  });
  // A failure, its fix, and the ablation, which has the sign of the fix and the rate of the failure.
  const learning = (sabotage: string | null, peak: number) => ({
    settings: { ...LEARNING, sabotage, rate: { peak, warmup: 0 } },
    rewards: [small],
  });
  await run("grpo", "backwards", "examples", learning("inverted_advantages", 0.02));
  await run("grpo", "repaired", "examples", learning(null, 0.015));
  await run("grpo", "ablated", "examples", learning(null, 0.02));
  for (const scoring of scorings) await scoring.close();
  for (const [name, runs] of Object.entries(PAGES)) {
    const folders = runs.map((one) => path.join(whole, "runs", one));
    write(whole, `runs/${name}.html`, (await trainingReport({ runs: folders })).html);
  }
  write(
    whole,
    STUDY,
    [
      "# Study",
      links("sft", "dpo", "rft", ...PAGES.leash),
      "## The failure, its fix and the ablation",
      links("backwards", "repaired", "ablated"),
      "## End",
      "word ".repeat(200),
    ].join("\n"),
  );
}, BUSY_MACHINE_MS);

/** The head of a page that nobody but a faker wrote. */
const typed = (...runs: readonly string[]) =>
  `<meta name="lockedroom-report" content="${escapeMarkup(JSON.stringify({ runs }))}">`;

const links = (...names: readonly string[]) =>
  names.map((name) => `[${name}](../../runs/${name})`).join(" ");

async function contextOf(dir: string): Promise<PlanContext> {
  const trainings = await Trainings.read(dir);
  return {
    ...{ dir, config: DEFAULT_CONFIG, commands: new Set() },
    runs: await WorkspaceRuns.read(dir),
    ...{ trainings, pages: new Pages(dir, trainings.files) },
  };
}

async function finding(dir: string, id: string): Promise<Finding> {
  const context = await contextOf(dir);
  return evaluateCriterion(CRITERIA.find((one) => one.id === id) as Criterion, context);
}

const ABOUT_TRAINING = [
  ...["dpo_run", "evaluation_report", "rft_run", "stability_diagnostics"],
  ...["kl_control", "several_objectives", "tradeoff_curve", "case_study_methods"],
  ...["case_study", "capstone_failure"],
];

test.each(ABOUT_TRAINING)("%s is met by what the commands made", async (id) => {
  const found = await finding(whole, id);
  expect(found, JSON.stringify(found)).toMatchObject({ status: "met" });
  for (const { path: name } of found.status === "met" ? found.evidence : [])
    expect(() => readFileSync(path.join(whole, name)), name).not.toThrow();
});

test.each(ABOUT_TRAINING)(
  "%s is missing in an empty workspace, with something to do",
  async (id) => {
    const dir = folder();
    write(dir, MARKER, JSON.stringify(DEFAULT_CONFIG));
    const found = await finding(dir, id);
    if (found.status !== "missing") throw new Error(`${id} is ${found.status}`);
    expect(found.command ?? found.next).toMatch(
      /^\.\/lockedroom |first\.|Link each|link all three|^Write portfolio/,
    );
  },
);

test("trainings, sweeps and pages of a week count as shipped, and edited ones do not", async () => {
  const dir = copy();
  edit(dir, "runs/rft/metrics.jsonl", '"loss":', '"loss":1');
  edit(dir, "runs/dpo.html", "win rate", "won rate");
  const files = [
    ...["runs/dpo/summary.json", "runs/rft/summary.json", "runs/traded/sweep.json"],
    ...["runs/dpo.html", "runs/leash.html"],
  ];
  const [start, day] = ["2026-11-02", "2026-11-03"];
  const commit = { day, files, words: new Map<string, number>() };
  const shipped = await deliverables(await contextOf(dir), { start, contributions: [commit] }, 1);
  const of = (id: string) => shipped.find((one) => one.id === id)?.shipped;
  expect(of("build")).toEqual(["runs/dpo"]);
  expect(of("evaluation")).toEqual(["runs/leash.html", "runs/traded/sweep.json"]);
  const { at, stages } = loopStatus(shipped, []);
  expect(at).toBe("learn");
  expect(stages.filter(({ evidence }) => evidence.length > 0).map(({ stage }) => stage)).toEqual([
    "build",
    "evaluate",
  ]);
});

test("a review is a week with two failures and a fix, or a diagnosis that is right", async () => {
  const dir = folder();
  const history = (files: string[]) => ({
    start: "2026-11-02",
    contributions: [{ day: "2026-11-03", files, words: new Map<string, number>() }],
  });
  const week = "scoreboard/week-01.json";
  const one = openCase(1, 0);
  const diagnosis = answerFile(one);
  const both = history([week, diagnosis, "notes/a.md"]);
  write(dir, week, JSON.stringify({ failures: ["one"], fixes: ["two"] }));
  await keepAnswer(dir, one, { cause: null, ablation: null });
  expect(reviewed(dir, both, 1), "revealed").toEqual([]);
  write(dir, week, JSON.stringify({ failures: ["one", "two"], fixes: ["three"] }));
  expect(reviewed(dir, both, 1)).toEqual([week]);
  const wrong = one.cause === "no-reward" ? "wrong-sign" : "no-reward";
  rmSync(path.join(dir, diagnosis));
  await keepAnswer(dir, one, { cause: wrong, ablation: "reward" });
  expect(reviewed(dir, both, 1), "wrong").toEqual([week]);
  edit(dir, diagnosis, /(_right": )false/g, "$1true");
  expect(reviewed(dir, both, 1), "marked right by hand").toEqual([week]);
  const right = { cause: one.cause, ablation: CAUSES[one.cause].ablation };
  expect(await keepAnswer(dir, one, right)).toBe("corrected");
  expect(reviewed(dir, both, 1), "corrected").toEqual([diagnosis, week]);
  expect(reviewed(dir, both, 2), "in another week").toEqual([]);
});

test("a page of several runs, with a price, is as good", async () => {
  const dir = copy();
  const runs = ["runs/sft", "runs/dpo"].map((name) => path.join(dir, name));
  write(dir, "runs/dpo.html", (await trainingReport({ runs, pricePerHour: 2.5 })).html);
  const found = await finding(dir, "evaluation_report");
  expect(found).toMatchObject({ status: "met" });
  expect(JSON.stringify(found)).toMatch(/win rate [\d.]+/);
});

test("the next command goes from samples over pairs to the run", async () => {
  const dir = folder();
  write(dir, MARKER, JSON.stringify(DEFAULT_CONFIG));
  const next = async () => JSON.stringify(await finding(dir, "dpo_run"));
  expect(await next()).toContain("./lockedroom rollout --policy");
  write(dir, "runs/samples/manifest.json", '{"schema":"lockedroom.rollout@1"}');
  write(dir, "runs/samples/samples.jsonl", "");
  expect(await next()).toContain("--rollouts runs/samples/samples.jsonl");
  write(dir, "runs/pairs/manifest.json", '{"schema":"lockedroom.pairs@1"}');
  write(dir, "runs/pairs/pairs.jsonl", "");
  expect(await next()).toMatch(/train dpo .* --dataset runs\/pairs\/pairs.jsonl .*runs\/dpo"/);
  write(dir, "runs/dpo/manifest.json", '{"schema":"lockedroom.train@1","algorithm":"dpo"}');
  expect(await next()).toMatch(/not finished.*runs\/dpo-2"/);
});

test("a training in an environment counts, and an edited one does not", async () => {
  const dir = copy();
  gone(dir, ...ON_POLICY_RUNS, "runs/leash.html", "runs/traded.html", "runs/failure.html");
  const small = await openScorer(path.join(dir, "scoring.ts"));
  // Half the reward for a solved task: what passes is told by the outcome code.
  const { reset, step } = singleTurn({ scorers: [small], weights: [0.5] });
  const environment: PlayableEnvironment = {
    environment: { identity: { name: "sums", version: "1" }, reset, step } as Environment,
    ...{ tools: [], codes: ["right", "wrong"], solved: ["right"], rewards: [0, 0.5] },
    tasks: async (split) => (split === "train" ? sumsWith(1, 8) : sumsWith(2, 24)),
    close: async () => {},
  };
  const { dataset: _, dev: __, ...options } = optionsOf("grpo", "played", "examples", {});
  const run = path.join(dir, "runs/played");
  await train({ ...options, outdir: run, environment });
  gone(dir, "runs/rft");
  const rft = path.join(dir, "runs/played-rft");
  const settings = { ...SETTINGS, algorithm: { threshold: 0.5 } };
  await train({ ...options, algorithm: "rft", settings, outdir: rft, environment });
  await small.close();
  write(dir, "runs/played-rft.html", (await trainingReport({ runs: [rft] })).html);
  const kept = await finding(dir, "rft_run");
  expect(kept, JSON.stringify(kept)).toMatchObject({ status: "met" });
  retell(dir, "runs/played-rft/kept.jsonl", (row) => ({ ...row, reward: 0 }));
  expect(JSON.stringify(await finding(dir, "rft_run"))).toMatch(/would not have been kept/);
  gone(dir, "runs/played-rft", "runs/played-rft.html");
  write(dir, "runs/played.html", (await trainingReport({ runs: [run] })).html);
  const found = await finding(dir, "stability_diagnostics");
  expect(found, JSON.stringify(found)).toMatchObject({ status: "met" });
  expect((await readTrainingRun(run)).evaluations.at(-1)?.pass_rate).toBeGreaterThan(0);
  retell(dir, "runs/played/evaluations.jsonl", (row) => ({ ...row, reward_mean: 0.5 }));
  expect(JSON.stringify(await finding(dir, "stability_diagnostics"))).toMatch(/do not agree/);
});

function copy(): string {
  const dir = folder();
  cpSync(whole, dir, { recursive: true });
  return dir;
}

/** Another run of GRPO, in a copy. */
async function trainInto(dir: string, name: string, settings: JsonObject): Promise<void> {
  const small = await openScorer(path.join(dir, "scoring.ts"));
  const options = optionsOf("grpo", name, "examples", { rewards: [small], settings });
  await train({ ...options, outdir: path.join(dir, "runs", name) });
  await small.close();
}

const read = (dir: string, name: string) => readFileSync(path.join(dir, name), "utf8");

function edit(dir: string, name: string, from: string | RegExp, to: string): void {
  const before = read(dir, name);
  const after = before.replace(from, to);
  expect(after, `${name} has ${from}`).not.toBe(before);
  write(dir, name, after);
}

type Row = Record<string, unknown>;

/** Changes each line of a file of a run, with a hash that fits. */
function retell(dir: string, name: string, change: (row: Row, i: number) => Row): void {
  const rows = read(dir, name).trim().split("\n");
  write(
    dir,
    name,
    rows.map((row, i) => change(JSON.parse(row), i)),
  );
  adjust(dir, path.posix.dirname(name));
}

/** A faker who knows of the hashes: the summary fits again, with whatever else is changed in it. */
function adjust(dir: string, run: string, changes: Row = {}): void {
  const { kept_sha256: _kept, ...summary } = JSON.parse(read(dir, `${run}/summary.json`));
  const names = readdirSync(path.join(dir, run));
  const manifest = JSON.parse(read(dir, `${run}/manifest.json`)) as TrainManifest;
  const hashes = {
    ...Object.fromEntries(
      ["metrics", "evaluations", "samples", "alarms", "kept"]
        .filter((name) => names.includes(`${name}.jsonl`))
        .map((name) => [`${name}_sha256`, sha256(read(dir, `${run}/${name}.jsonl`))]),
    ),
    manifest_sha256: settingsFingerprint(manifest),
  };
  write(dir, `${run}/summary.json`, JSON.stringify({ ...summary, ...changes, ...hashes }));
}

/** Says another thing in the manifest, with a hash that fits. */
function claim(dir: string, run: string, from: string | RegExp, to: string): void {
  edit(dir, `${run}/manifest.json`, from, to);
  adjust(dir, run);
}

const WEAK = "runs/leash/kl.coefficient=0.1";
const MIDDLE = "runs/leash/kl.coefficient=1";
const STRONG = "runs/leash/kl.coefficient=30";
const SWEEP = "runs/traded";

const study = (dir: string, text: string) =>
  write(dir, STUDY, `# Study\n${text}\n# End\n${"word ".repeat(200)}`);

/** Draws the curve of the sweep with other measures, as `sweep --tradeoff` would. */
async function tradeAgain(dir: string, measures: MeasurePair): Promise<void> {
  gone(dir, "runs/leash");
  const { over, algorithm, points } = JSON.parse(read(dir, `${SWEEP}/tradeoff.json`));
  const runs = [];
  for (const { value, run: name } of points)
    runs.push({ value, name, run: await readTrainingRun(path.join(dir, SWEEP, name)) });
  const again = tradeoffOf({ over, algorithm, runs }, measures);
  write(dir, `${SWEEP}/tradeoff.json`, JSON.stringify(again));
}

const ON_POLICY_RUNS = [
  ...["runs/both", "runs/leash", "runs/priced", "runs/traded"],
  ...["runs/ablated", "runs/repaired", "runs/backwards"],
];

const gone = (dir: string, ...names: readonly string[]) => {
  for (const name of names) rmSync(path.join(dir, name), { recursive: true });
};

/** Every example passes, and all figures of the evaluations say so. */
const praised = (row: Row): Row => {
  const { length } = row.rewards as unknown[];
  const figures = { pass_rate: 1, reward_mean: 1, proxy_mean: 1 };
  return { ...row, ...figures, rewards: Array(length).fill(1), outcomes: { right: length } };
};

interface Fake {
  readonly of: string;
  readonly fake: string;
  /** What must be found. */
  readonly said: RegExp;
  readonly make: (dir: string) => unknown;
}

const fakesOf = (
  of: string,
  list: Readonly<Record<string, readonly [RegExp, Fake["make"]]>>,
): Fake[] => Object.entries(list).map(([fake, [said, make]]) => ({ of, fake, said, make }));

const FAKES: readonly Fake[] = [
  ...fakesOf("dpo_run", {
    "pairs that no command made": [
      /not those of a folder that `pairs` made/,
      (dir) => gone(dir, "runs/pairs"),
    ],
    "pairs whose samples are not here": [
      /its samples are not here/,
      (dir) => gone(dir, "data/samples.jsonl"),
    ],
    "pairs of other samples": [
      /its samples are not here, or not as before/,
      (dir) => edit(dir, "data/samples.jsonl", "9+9", "9+8"),
    ],
    "a killed run": [/not finished/, (dir) => gone(dir, "runs/dpo/summary.json")],
    "half a summary": [/damaged/, (dir) => write(dir, "runs/dpo/summary.json", '{"steps": 4')],
    "edited metrics": [
      /metrics\.jsonl is not/,
      (dir) => edit(dir, "runs/dpo/metrics.jsonl", '"loss":0', '"loss":1'),
    ],
    "an edited manifest": [
      /manifest\.json is not/,
      (dir) => edit(dir, "runs/dpo/manifest.json", '"beta": 0.1', '"beta": 0.2'),
    ],
    "other settings, with a hash that fits": [
      /records another training/,
      (dir) => claim(dir, "runs/dpo", '"beta": 0.1', '"beta": 0.2'),
    ],
    "a better loss, with a hash that fits": [
      /last_loss/,
      (dir) => {
        retell(dir, "runs/dpo/metrics.jsonl", (row) => ({ ...row, loss: Math.LN2 / 2 }));
        adjust(dir, "runs/dpo", { first_loss: Math.LN2 / 2 });
      },
    ],
    "a first loss that is not that of DPO": [
      /ln 2/,
      (dir) => {
        retell(dir, "runs/dpo/metrics.jsonl", (row) => ({ ...row, loss: 0.1 }));
        adjust(dir, "runs/dpo", { first_loss: 0.1, last_loss: 0.1 });
      },
    ],
    "more steps than it has lines": [
      /lacks some of its 40 steps/,
      (dir) => adjust(dir, "runs/dpo", { steps: 40 }),
    ],
    "a run that ended early": [
      /stopped at step 3/,
      (dir) => {
        write(
          dir,
          "runs/dpo/metrics.jsonl",
          read(dir, "runs/dpo/metrics.jsonl").replace(/.*\n$/, ""),
        );
        const rows = read(dir, "runs/dpo/metrics.jsonl").trim().split("\n");
        const [, , last] = rows.map((row) => JSON.parse(row));
        const tokens = rows.reduce((sum, row) => sum + JSON.parse(row).tokens, 0);
        const stop = { reason: "all steps done", step: 3, kept: 3 };
        adjust(dir, "runs/dpo", { steps: 3, tokens, last_loss: last.loss, stop });
      },
    ],
    "no timing": [/timing\.jsonl/, (dir) => write(dir, "runs/dpo/timing.jsonl", "")],
    "an alarm that was taken out": [/alarms 7/, (dir) => adjust(dir, "runs/dpo", { alarms: 7 })],
    "a serious alarm": [
      /validation_falls/,
      (dir) => {
        const alarm = { alarm: "validation_falls", stops: true, message: "m", evidence: {} };
        const before = read(dir, "runs/dpo/alarms.jsonl");
        write(dir, "runs/dpo/alarms.jsonl", `${before}${JSON.stringify({ step: 4, ...alarm })}\n`);
        adjust(dir, "runs/dpo", { alarms: before.split("\n").length });
      },
    ],
    "a reference that moved": [
      /frozen/,
      (dir) => adjust(dir, "runs/dpo", { reference_frozen: false }),
    ],
    "a sabotaged run": [
      /on purpose/,
      (dir) => claim(dir, "runs/dpo", '"sabotage": null', '"sabotage": "inverted_rate"'),
    ],
    "SFT under another name": [
      /records another training/,
      (dir) => {
        gone(dir, "runs/dpo");
        claim(dir, "runs/sft", '"algorithm": "sft"', '"algorithm": "dpo"');
      },
    ],
    "edited evaluations": [
      /evaluations\.jsonl is not/,
      (dir) => edit(dir, "runs/dpo/evaluations.jsonl", /"pass_rate":[\d.]+/, '"pass_rate":1'),
    ],
    "a higher pass rate": [
      /do not agree/,
      (dir) => retell(dir, "runs/dpo/evaluations.jsonl", (row) => ({ ...row, pass_rate: 0.99 })),
    ],
    "rewards that were raised, with figures that fit": [
      /samples\.jsonl and evaluations\.jsonl differ/,
      (dir) => retell(dir, "runs/dpo/evaluations.jsonl", praised),
    ],
    "rewards that were raised everywhere": [
      /and its scorer gives wrong with 0/,
      (dir) => {
        retell(dir, "runs/dpo/evaluations.jsonl", praised);
        const right = { reward: 1, code: "right" };
        retell(dir, "runs/dpo/samples.jsonl", (row) => ({ ...row, ...right }));
      },
    ],
    "samples of other questions": [
      /another prompt for .* than its data set/,
      (dir) => retell(dir, "runs/dpo/samples.jsonl", (row) => ({ ...row, prompt: "1+1=" })),
    ],
    "no evaluations": [
      /evaluations\.jsonl has the steps none/,
      (dir) => {
        write(dir, "runs/dpo/evaluations.jsonl", "");
        adjust(dir, "runs/dpo");
      },
    ],
    "no checkpoint": [/runs\/dpo.*checkpoint/, (dir) => gone(dir, "runs/dpo/checkpoint")],
    "the checkpoint of another run": [
      /not the one that the run wrote/,
      (dir) => {
        gone(dir, "runs/dpo/checkpoint");
        const [from, to] = ["runs/sft/checkpoint", "runs/dpo/checkpoint"];
        cpSync(path.join(dir, from), path.join(dir, to), { recursive: true });
      },
    ],
  }),
  ...fakesOf("evaluation_report", {
    "no page": [/no valid page/, (dir) => gone(dir, "runs/dpo.html")],
    "no run": [/no run of dpo/, (dir) => gone(dir, "runs/dpo")],
    "an edited page": [
      /not what report writes/,
      (dir) => edit(dir, "runs/dpo.html", /win rate [\d.]+/, "win rate 99.9"),
    ],
    "a page that names the run and nothing else": [
      /not what report writes/,
      (dir) => write(dir, "runs/dpo.html", `${typed("dpo")} win rate 99 %`),
    ],
    "a page that names it twice": [
      /cannot be written again/,
      (dir) => write(dir, "runs/dpo.html", typed("dpo", "dpo")),
    ],
    "a page of another run": [
      /no valid page about a DPO run/,
      async (dir) => {
        const { html } = await trainingReport({ runs: [path.join(dir, "runs/sft")] });
        write(dir, "runs/dpo.html", html);
      },
    ],
  }),
  ...fakesOf("rft_run", {
    "no samples": [
      /kept\.jsonl is missing/,
      (dir) => {
        gone(dir, "runs/rft/kept.jsonl");
        adjust(dir, "runs/rft");
      },
    ],
    "samples that were edited": [
      /It was edited: kept\.jsonl is not what/,
      (dir) => edit(dir, "runs/rft/kept.jsonl", '"completion":"', '"completion":"0'),
    ],
    "a sample more than was counted": [
      /metrics\.jsonl has other counts/,
      (dir) => {
        const kept = read(dir, "runs/rft/kept.jsonl");
        write(dir, "runs/rft/kept.jsonl", `${kept}${kept.split("\n")[0]}\n`);
        adjust(dir, "runs/rft");
      },
    ],
    "samples that are all the same": [
      /would not have been kept/,
      (dir) => {
        const [first = ""] = read(dir, "runs/rft/kept.jsonl").split("\n");
        write(dir, "runs/rft/kept.jsonl", `${first}\n`.repeat(2));
        const counted = { "kept/texts": 2, "kept/prompts": 1 / 8 };
        retell(dir, "runs/rft/metrics.jsonl", (row) => ({ ...row, ...counted }));
      },
    ],
    "samples that nobody rewarded": [
      /has a reward of 0, below 1/,
      (dir) => retell(dir, "runs/rft/kept.jsonl", (row, i) => ({ ...row, completion: `9${i}` })),
    ],
    "samples of other questions": [
      /not in its data set/,
      (dir) => retell(dir, "runs/rft/kept.jsonl", (row) => ({ ...row, id: `x${row.id}` })),
    ],
  }),
  ...fakesOf("stability_diagnostics", {
    "a KL that was not measured": [
      /KL to the initial policy was not measured/,
      (dir) => {
        gone(dir, ...ON_POLICY_RUNS);
        retell(dir, "runs/rft/evaluations.jsonl", (row) => ({ ...row, kl_exact: null }));
      },
    ],
    "a KL before anything was learned": [
      /step 0 do not agree/,
      (dir) => {
        gone(dir, ...ON_POLICY_RUNS);
        retell(dir, "runs/rft/evaluations.jsonl", (row) => ({ ...row, kl_exact: 0.1 }));
      },
    ],
    "a curve with holes": [
      /no entropy at some steps/,
      (dir) => {
        gone(dir, ...ON_POLICY_RUNS);
        retell(dir, "runs/rft/metrics.jsonl", ({ entropy, ...row }, i) =>
          i === 2 ? row : { ...row, entropy },
        );
      },
    ],
  }),
  ...fakesOf("kl_control", {
    "one strength": [/no two differ only/, (dir) => gone(dir, WEAK, MIDDLE, STRONG)],
    "more drift on the stronger leash": [
      /coefficient 0 → 30, exact KL .* → 9/,
      (dir) =>
        retell(dir, `${STRONG}/evaluations.jsonl`, (row) => ({
          ...row,
          kl_exact: row.step === 0 ? 0 : 9,
        })),
    ],
    "runs of one step": [
      /it has 1 steps, not 10/,
      async (dir) => {
        gone(dir, ...ON_POLICY_RUNS);
        for (const coefficient of [0, 30])
          await trainInto(dir, `kl-${coefficient}`, {
            ...{ steps: 1, kl: { mode: "fixed", coefficient } },
          });
      },
    ],
    "hardly less drift": [
      /exact KL 1\.0000 → 0\.9000/,
      (dir) => {
        gone(dir, WEAK, MIDDLE);
        for (const [run, kl] of [
          ["runs/leash/kl.coefficient=0", 1],
          [STRONG, 0.9],
        ] as const)
          retell(dir, `${run}/evaluations.jsonl`, (row) => ({
            ...row,
            kl_exact: row.step === 0 ? 0 : kl,
          }));
      },
    ],
    "a strength that was only claimed": [
      /no two differ only/,
      (dir) => {
        gone(dir, WEAK, MIDDLE);
        retell(dir, `${STRONG}/metrics.jsonl`, (row) => ({ ...row, "kl/coefficient": 0 }));
      },
    ],
  }),
  ...fakesOf("several_objectives", {
    "one objective": [
      /neither two scorers/,
      (dir) => gone(dir, "runs/both", "runs/priced", "runs/traded"),
    ],
    "rewards that do not add up": [
      /runs\/both: it has neither/,
      (dir) => {
        gone(dir, "runs/priced", "runs/traded", "runs/ablated", "runs/repaired", "runs/backwards");
        retell(dir, "runs/both/metrics.jsonl", (row) => ({ ...row, "reward/brevity": 0.9 }));
      },
    ],
    "a price that does not follow from the cost": [
      /neither two scorers/,
      (dir) => {
        gone(dir, "runs/both", "runs/traded");
        retell(dir, "runs/priced/metrics.jsonl", (row) => ({ ...row, "cost/mean": 0 }));
      },
    ],
  }),
  ...fakesOf("tradeoff_curve", {
    "a sweep over the KL coefficient": [
      /a sweep over kl\.coefficient trades no objective/,
      (dir) => gone(dir, "runs/traded"),
    ],
    "points that are the same": [
      /1 different points of reward\/small and reward\/brevity, not 3/,
      async (dir) => {
        for (const [name, weight] of [
          ["1,0", 1],
          ["1,2", 3],
          ["0,1", 1],
        ] as const)
          retell(dir, `${SWEEP}/weights=${name}/metrics.jsonl`, (row) => ({
            ...row,
            ...{ "reward/small": 0.5, "reward/brevity": 0.5, "reward/mean": 0.5 * weight },
          }));
        await tradeAgain(dir, TRADED);
      },
    ],
    "points that differ by chance": [
      /no two Pareto-optimal values differ in both/,
      async (dir) => {
        // Each step far from the next, so that the means say little.
        for (const name of ["1,0", "1,2", "0,1"])
          retell(dir, `${SWEEP}/weights=${name}/metrics.jsonl`, (row, i) => {
            const small = (row["reward/small"] as number) + (i % 2 ? 9 : -9);
            const [a, b] = name.split(",").map(Number) as [number, number];
            const total = a * small + b * (row["reward/brevity"] as number);
            return { ...row, "reward/small": small, "reward/mean": total };
          });
        await tradeAgain(dir, TRADED);
      },
    ],
    "a curve of reward against KL": [
      /reward\/small against kl is not an objective against/,
      (dir) => tradeAgain(dir, { y: "reward/small", x: "kl" }),
    ],
    "a typed curve": [
      /tradeoff\.json has other figures than its runs/,
      (dir) => {
        gone(dir, "runs/leash");
        edit(dir, `${SWEEP}/tradeoff.json`, /"y": -?[\d.e-]+/, '"y": 0.98');
      },
    ],
    "no curve": [
      /tradeoff\.json is not what sweep writes/,
      (dir) => gone(dir, "runs/leash", `${SWEEP}/tradeoff.json`),
    ],
    "runs without a diagnostics page": [
      /no diagnostics page of runs\/traded/,
      (dir) => gone(dir, "runs/traded.html"),
    ],
    "a typed point": [
      /the point 1,0 differs from its run/,
      (dir) => {
        gone(dir, "runs/leash");
        edit(dir, `${SWEEP}/sweep.json`, /"pass_rate": [\d.]+/, '"pass_rate": 0.98');
      },
    ],
    "runs that are gone": [
      /weights=0,1: .*not finished/,
      (dir) => gone(dir, "runs/leash", `${SWEEP}/weights=0,1`),
    ],
    "a run that was edited": [
      /weights=1,2: It was edited/,
      (dir) => {
        gone(dir, "runs/leash");
        edit(dir, `${SWEEP}/weights=1,2/metrics.jsonl`, '"step":1', '"step":2');
      },
    ],
    "two points": [
      /2 different runs/,
      (dir) => {
        gone(dir, "runs/leash");
        const sweep = JSON.parse(read(dir, `${SWEEP}/sweep.json`));
        const points = sweep.points.slice(1);
        write(dir, `${SWEEP}/sweep.json`, JSON.stringify({ ...sweep, points }));
      },
    ],
    "one run copied under another value": [
      /the point 2 differs from its run/,
      (dir) => {
        gone(dir, "runs/traded");
        const other = path.join(dir, "runs/leash/kl.coefficient=2");
        cpSync(path.join(dir, MIDDLE), other, { recursive: true });
        const sweep = JSON.parse(read(dir, "runs/leash/sweep.json"));
        const [first, second, third] = sweep.points;
        const points = [first, second, { ...third, value: 2 }];
        write(dir, "runs/leash/sweep.json", JSON.stringify({ ...sweep, points }));
      },
    ],
    "something else": [
      /not what sweep writes/,
      (dir) => {
        gone(dir, "runs/leash");
        write(dir, `${SWEEP}/sweep.json`, "{}");
      },
    ],
  }),
  ...fakesOf("rft_run", {
    "a run without its diagnostics page": [
      /no diagnostics page of runs\/rft/,
      (dir) => gone(dir, "runs/others.html"),
    ],
    "a page that was edited": [
      /others\.html is not what report writes/,
      (dir) => edit(dir, "runs/others.html", "<h2>", "<h2 >"),
    ],
  }),
  ...fakesOf("case_study", {
    "three runs that have nothing to do with each other": [
      /links to 0 valid ablations/,
      (dir) => study(dir, links("sft", "dpo", "rft", "both")),
    ],
    "two runs that differ in the seed alone": [
      /links to 2 valid ablations/,
      (dir) => study(dir, links("sft", ...PAGES.leash.slice(1))),
    ],
  }),
  ...fakesOf("capstone_failure", {
    "no heading": [/no such heading/, (dir) => study(dir, links("backwards", "repaired"))],
    "two good runs": [
      /no linked training run failed/,
      (dir) => study(dir, `## Failure\n${links("both", "priced")}`),
    ],
    "three seeds of one run of one step": [
      /no linked training run failed|no linked run fixes/,
      async (dir) => {
        const names = ["seed-0", "seed-1", "seed-2"];
        for (const [seed, name] of names.entries()) await trainInto(dir, name, { steps: 1, seed });
        study(dir, `## Failure\n${links(...names)}`);
      },
    ],
    "another seed as the ablation": [
      /is the ablation of rate\.peak, sabotage, which runs\/(repaired|seed-1) changed/,
      async (dir) => {
        await trainInto(dir, "seed-1", { ...LEARNING, rate: { peak: 0.015, warmup: 0 }, seed: 1 });
        study(dir, `## Failure\n${links("backwards", "repaired", "seed-1")}`);
      },
    ],
    "a failure without its ablation": [
      /is the ablation of .*sabotage.*runs\/repaired changed/,
      (dir) => study(dir, `## Failure\n${links("backwards", "repaired")}`),
    ],
    "a failure with another task's run as the fix": [
      /no linked run fixes runs\/backwards/,
      (dir) => study(dir, `## Failure\n${links("backwards", "gone")}`),
    ],
    "no page about the failing run": [
      /no diagnostics page of runs\/backwards/,
      (dir) => gone(dir, "runs/failure.html"),
    ],
  }),
  ...fakesOf("case_study_methods", {
    "no link to the baseline": [
      /run of SFT$/m,
      (dir) => edit(dir, STUDY, "../../runs/sft", "gone"),
    ],
    "a link to a run that was edited": [
      /run of DPO/,
      (dir) => edit(dir, "runs/dpo/metrics.jsonl", '"loss":0', '"loss":1'),
    ],
    "no study": [/SFT, nor of DPO, nor of RFT/, (dir) => gone(dir, STUDY)],
    "runs without a diagnostics page": [
      /no diagnostics page of runs\/sft/,
      (dir) => gone(dir, "runs/others.html"),
    ],
  }),
];

test("ablations are counted in any order, and those that change nothing are not", async () => {
  const trainings = await Trainings.read(whole);
  const runs: Training[] = [];
  for (const name of ["sft", ...PAGES.leash]) {
    const run = await trainings.open(`runs/${name}`);
    if (typeof run === "string") throw new Error(`${name}: ${run}`);
    runs.push(run);
  }
  const [sft, none, weak, middle, strong] = runs as [
    Training,
    Training,
    Training,
    Training,
    Training,
  ];
  // With another name the base would come last: it differs in one thing from each of the others.
  const seeded = (run: Training, seed: number): Training => {
    const { manifest, summary } = run;
    const settings = { ...manifest.settings, seed };
    const metrics_sha256 = `${seed}${summary.metrics_sha256}`;
    return { ...run, manifest: { ...manifest, settings }, summary: { ...summary, metrics_sha256 } };
  };
  const chain = [weak, none, seeded(middle, 7), strong, seeded(strong, 7), sft];
  expect(ablationsAmong(chain).count).toBe(3);
  expect(ablationsAmong(chain.toReversed()).count).toBe(3);
  expect(ablationsAmong(chain).runs).not.toContain(sft);
  const idle: Training = {
    ...none,
    manifest: { ...none.manifest, settings: { ...none.manifest.settings, batch: 5 } },
  };
  expect(isAblation(none, idle), "another setting").toBe(true);
  expect(ablationsAmong([none, idle])).toEqual({ count: 0, runs: [] });
});

test("a training run is not called a broken evaluation", async () => {
  const found = await finding(whole, "baseline_measured");
  expect(found.status === "missing" && found.found).toBe(
    "no evaluation in runs/; runs/ablated is a training run",
  );
});

describe("faked evidence", () => {
  test.each(FAKES)("$of is not met by $fake", async ({ of, said, make }) => {
    const dir = copy();
    await make(dir);
    const found = await finding(dir, of);
    expect(found).toMatchObject({ status: "missing" });
    expect(found.status === "missing" && found.found).toMatch(said);
  });
});
