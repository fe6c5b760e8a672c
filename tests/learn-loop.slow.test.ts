/**
 * The training loop from end to end, on a policy so small that a run takes a moment: every method, the
 * same bytes every time, gone on with after an interruption, and what it refuses to do.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../src/core/json.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../src/core/score.ts";
import type { TrainedPolicy, TrainOptions } from "../src/learn/options.ts";
import type { EvaluationRecord, StepRecord } from "../src/runs/train-records.ts";
import { api, BIN, EXIT, expectError, scorerSource, start, until, Workspace } from "./cli.ts";

const room = new Workspace();
const tokenizer = new api.CharacterTokenizer("0123456789+= ");
const architecture = {
  ...{ ...api.SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};

/** Sums with this second number: each set has one of its own. */
const sumsWith = (b: number, count = 8) =>
  Array.from({ length: count }, (_, a) => ({
    ...{ id: `s${a}-${b}`, prompt: `${a}+${b}=`, expected_answer: a + b },
  }));

beforeAll(async () => {
  await api.saveCheckpoint(room.path("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 24 },
    // Eight times the usual spread: some answers are likelier than others.
    parameters: api.initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  room.jsonl("examples.jsonl", sumsWith(1));
  room.jsonl("dev.jsonl", sumsWith(2, 6));
  room.jsonl("holdout.jsonl", sumsWith(3, 5));
  const numbered = sumsWith(1).map(({ id, prompt }, i) => ({ id, prompt, i }));
  room.jsonl(
    "texts.jsonl",
    numbered.map(({ id, prompt, i }) => ({ id, prompt, completion: String(i + 1) })),
  );
  room.jsonl(
    "pairs.jsonl",
    numbered.map(({ id, prompt, i }) => ({ id, prompt, chosen: `${i}2`, rejected: "9+9" })),
  );
  room.jsonl(
    "labels.jsonl",
    numbered.map(({ id, prompt, i }) => ({
      ...{ id, prompt, completion: i % 2 ? "77" : `${i}` },
      label: i % 2 === 0,
    })),
  );
});

/** A scorer that remembers what it was asked. */
interface RecordingScorer extends GuardedScorer {
  readonly asked: ScoreRequest[];
}

function scorerOf(name: string, reward: (row: ScoreRequest) => number | null): RecordingScorer {
  const asked: ScoreRequest[] = [];
  return {
    asked,
    identity: { name, version: "1", spec: "test", source_sha256: "0".repeat(64), path: null },
    ...{ concurrency: 1, timeoutMs: 1000, close: async () => {} },
    async scoreBatch(batch): Promise<CheckedScore[]> {
      asked.push(...batch);
      return batch.map((row) => {
        const given = reward(row);
        if (given === null) return { reward: null, code: "scorer_error", details: "it broke" };
        return { reward: given, code: given >= 1 ? "right" : "wrong", details: {} };
      });
    },
  };
}

/** About a third of what the policy says at first passes. */
const small = () => scorerOf("small", ({ completion }) => Number(/^[0-4]/.test(completion)));

const QUICK = {
  ...{ steps: 4, batch: 4, alarms_stop: false },
  rollouts: { prompts: 3, group: 4, max_tokens: 5 },
  evaluate: { every: 2, max_tokens: 5 },
  rate: { peak: 0.003, warmup: 0 },
};

interface Method {
  readonly name: string;
  readonly dataset: string;
  readonly samples?: boolean;
  /** Whether there is a frozen start. */
  readonly frozen: true | null;
  readonly settings?: JsonObject;
}

const METHODS: readonly Method[] = [
  { name: "sft", dataset: "texts.jsonl", frozen: null },
  { name: "rft", dataset: "examples.jsonl", samples: true, frozen: null },
  { name: "dpo", dataset: "pairs.jsonl", frozen: true },
  { name: "ipo", dataset: "pairs.jsonl", frozen: true },
  { name: "kto", dataset: "labels.jsonl", frozen: true },
  { name: "orpo", dataset: "pairs.jsonl", frozen: null },
  {
    ...{ name: "reinforce", dataset: "examples.jsonl", samples: true, frozen: true },
    settings: { algorithm: { baseline: "running" } },
  },
  {
    ...{ name: "rloo", dataset: "examples.jsonl", samples: true, frozen: true },
    settings: { kl: { mode: "fixed" } },
  },
  {
    ...{ name: "grpo", dataset: "examples.jsonl", samples: true, frozen: true },
    settings: { kl: { mode: "adaptive", horizon: 100 }, algorithm: { epochs: 2 } },
  },
  {
    ...{ name: "ppo", dataset: "examples.jsonl", samples: true, frozen: true },
    settings: { kl: { mode: "fixed" }, algorithm: { epochs: 2, minibatches: 2 } },
  },
];

const methodOf = (name: string) => METHODS.find((method) => method.name === name) as Method;

function optionsOf(name: string, outdir: string, settings: JsonObject = {}): TrainOptions {
  const { dataset, samples, settings: own = {} } = methodOf(name);
  return {
    ...{ algorithm: name, init: room.path("start"), size: "nano", threads: 1, saveEvery: 2 },
    ...{ dataset: room.path(dataset), dev: room.path("dev.jsonl"), outdir: room.path(outdir) },
    ...(samples ? { rewards: [small()] } : { validation: small() }),
    settings: { ...QUICK, ...own, ...settings },
  };
}

const run = (
  name: string,
  outdir: string,
  { settings, ...more }: Partial<TrainOptions> = {},
): Promise<TrainedPolicy> => api.train({ ...optionsOf(name, outdir, settings), ...more });

const made = new Map<string, Promise<TrainedPolicy>>();

/** The method's plain run, in NAME/one, which others are held against; it is made once. */
function theRun(name: string): Promise<TrainedPolicy> {
  const known = made.get(name) ?? run(name, `${name}/one`);
  made.set(name, known);
  return known;
}

const rowsOf = <T>(outdir: string, stream: string): T[] =>
  room
    .read(outdir, `${stream}.jsonl`)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as T]));

/** Everything that must not depend on the occasion: all files but those with the clock in them. */
function outcome(outdir: string): Record<string, string> {
  const { "timing.jsonl": _timing, "manifest.json": manifest, ...rest } = room.snapshot(outdir);
  const { volatile: _volatile, ...fixed } = JSON.parse(manifest ?? "");
  const files = Object.entries({ ...rest, "manifest.json": JSON.stringify(fixed) });
  return Object.fromEntries(
    files.map(([name, content]) => [
      name,
      name.endsWith(".safetensors") ? createHash("sha256").update(content).digest("hex") : content,
    ]),
  );
}

/** Whether a writer holds the folder; the claim is a link that points nowhere. */
const isClaimed = (outdir: string) => readdirSync(room.path(outdir)).includes(".running");

const parametersOf = async (folder: string) =>
  (await api.loadCheckpoint(room.path(folder))).parameters;

describe.each(METHODS)("$name", ({ name, frozen, samples }) => {
  beforeAll(() => theRun(name));

  test("writes every artifact, each of its schema", async () => {
    const dir = `${name}/one`;
    for (const file of ["metrics", "evaluations", "samples", "alarms", "timing"]) {
      expect(room.has(dir, `${file}.jsonl`), file).toBe(true);
    }
    expect(room.has(dir, "state")).toBe(false);
    expect(room.has(dir, "kept.jsonl")).toBe(name === "rft");
    const manifest = JSON.parse(room.read(dir, "manifest.json"));
    expect(api.trainManifestSchema.parse(manifest).algorithm).toBe(name);
    const summary = api.trainSummarySchema.parse(JSON.parse(room.read(dir, "summary.json")));
    expect(summary).toMatchObject({
      ...{ steps: 4, reference_frozen: frozen },
      stop: { reason: "all steps done", step: 4, kept: 4 },
      holdout: { evaluations: 0, before: 0, pass_rate: null },
    });
    const { trained, fingerprint } = await api.loadCheckpoint(room.path(dir, "checkpoint"));
    expect(fingerprint).toBe(summary.checkpoint_fingerprint);
    expect(trained).toMatchObject({ algorithm: name, step: 4, holdout_evaluations: 0 });
  });

  test("records numbers for every step, and evaluations from the start on", () => {
    const steps = rowsOf<StepRecord>(`${name}/one`, "metrics");
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    const always = [
      "loss",
      "gradient_norm",
      "learning_rate",
      "tokens",
      "entropy",
      "token_accuracy",
    ];
    const sampled = ["reward/mean", "kl/k3", "length/mean", "check/logprob_gap", "sampled_tokens"];
    for (const record of steps) {
      const { outcomes, ...numbers } = record;
      const wanted = [...always, ...(samples && name !== "rft" ? sampled : [])];
      for (const key of wanted) expect(numbers, key).toHaveProperty([key]);
      for (const [key, x] of Object.entries(numbers)) expect(Number.isFinite(x), key).toBe(true);
      if (samples && name !== "rft") {
        expect(Object.values(outcomes ?? {}).reduce((a, b) => a + b, 0)).toBe(12);
        expect(record["check/logprob_gap"]).toBeLessThan(1e-4);
      }
    }
    const evaluations = rowsOf<EvaluationRecord>(`${name}/one`, "evaluations");
    expect(evaluations.map(({ step }) => step)).toEqual([0, 2, 4]);
    // The policy is its own reference at first, and no longer afterwards.
    expect(evaluations[0]?.kl_exact).toBe(0);
    expect(evaluations[2]?.kl_exact).toBeGreaterThan(0);
  });

  test("moves the policy", async () => {
    const [before, after] = [
      await parametersOf("start"),
      await parametersOf(`${name}/one/checkpoint`),
    ];
    expect(before.some((x, i) => x !== after[i])).toBe(true);
    for (const { gradient_norm } of rowsOf<StepRecord>(`${name}/one`, "metrics")) {
      expect(gradient_norm).toBeGreaterThan(0);
    }
  });

  test("gives the same bytes again, and with two threads", async () => {
    await run(name, `${name}/again`);
    await run(name, `${name}/threads`, { threads: 2 });
    expect(outcome(`${name}/again`)).toEqual(outcome(`${name}/one`));
    expect(outcome(`${name}/threads`)).toEqual(outcome(`${name}/one`));
  });

  test("another seed is another run", async () => {
    await run(name, `${name}/seed`, { settings: { seed: 1 } });
    expect(outcome(`${name}/seed`)["metrics.jsonl"]).not.toBe(
      outcome(`${name}/one`)["metrics.jsonl"],
    );
  });
});

describe("at the start", () => {
  beforeAll(async () => {
    for (const name of ["dpo", "ipo", "kto", "reinforce", "rloo", "grpo", "ppo"])
      await theRun(name);
  });
  const first = (name: string) => rowsOf<StepRecord>(`${name}/one`, "metrics")[0] as StepRecord;

  test("dpo's loss is ln 2 and ipo's (1 / 2β)²: the reference is the policy", () => {
    expect(first("dpo").loss).toBeCloseTo(Math.LN2, 5);
    expect(first("dpo")["rewards/margin"]).toBeCloseTo(0, 5);
    expect(first("ipo").loss).toBeCloseTo(25, 3);
    expect(first("kto").loss).toBeCloseTo(0.5, 5);
  });

  test("sampled tokens have the log-probs of the policy that learns, and the reference's", () => {
    for (const name of ["reinforce", "rloo", "grpo", "ppo"]) {
      expect(first(name)["check/logprob_gap"]).toBeLessThan(1e-5);
      expect(first(name)["check/reference_gap"]).toBe(0);
      expect(first(name)["kl/k1"]).toBeCloseTo(0, 5);
    }
  });
});

/** Stops as a power cut would, as soon as this step is done. */
async function cut(options: TrainOptions, at: number): Promise<void> {
  const onStep = (done: number) => {
    if (done === at) throw new Error("pulled the plug");
  };
  await expect(api.train({ ...options, onStep })).rejects.toThrow("pulled the plug");
}

describe("an interrupted run", () => {
  const settings = { steps: 5, evaluate: { every: 1, max_tokens: 5 } };
  beforeAll(async () => {
    for (const name of ["grpo", "rft"]) await theRun(name);
  });

  test.each([
    ["grpo", { kl: { mode: "adaptive", horizon: 50 }, cost: { limit: 2, rate: 0.5 } }],
    ["ppo", { kl: { mode: "adaptive", horizon: 50 } }],
    ["reinforce", {}],
    ["rft", {}],
    ["kto", {}],
  ] as const)("of %s ends with the same bytes, wherever it was cut", async (name, more) => {
    const cost = scorerOf("long", ({ completion }) => completion.length);
    const options = (outdir: string): TrainOptions => ({
      ...optionsOf(name, `${name}/${outdir}`, { ...settings, ...more }),
      ...("cost" in more && { cost }),
    });
    await api.train(options("whole"));
    for (const at of name === "grpo" || name === "rft" ? [1, 2, 3, 4] : [3]) {
      const again = options(`cut${at}`);
      await cut(again, at);
      expect(room.has(`${name}/cut${at}`, "summary.json")).toBe(false);
      await api.train({ ...again, resume: true });
      expect(outcome(`${name}/cut${at}`)).toEqual(outcome(`${name}/whole`));
    }
  });

  test("is neither begun anew by accident nor gone on with as another", async () => {
    const options = optionsOf("grpo", "grpo/left");
    await cut(options, 3);
    await expect(api.train(options)).rejects.toThrow(/unfinished training run/);
    const other = { ...options, settings: { ...options.settings, seed: 9 }, resume: true };
    await expect(api.train(other)).rejects.toThrow(/other settings \(seed\)/);
    // Twice cut, once whole.
    await cut({ ...options, resume: true }, 3);
    await api.train({ ...options, resume: true });
    expect(outcome("grpo/left")).toEqual(outcome("grpo/one"));
    await expect(api.train(options)).rejects.toThrow(/already holds a finished training run/);
  });

  test("that had saved nothing yet begins anew by --resume", async () => {
    const options = (name: string) => ({ ...optionsOf("grpo", name), saveEvery: 100 });
    await cut(options("grpo/early"), 3);
    await api.train({ ...options("grpo/early"), resume: true });
    await api.train(options("grpo/late"));
    expect(outcome("grpo/early")).toEqual(outcome("grpo/late"));
    // How often states are saved makes no difference, but to the list of them.
    const { "states.jsonl": states, "summary.json": _, ...early } = outcome("grpo/early");
    expect(states).toBe("");
    expect(outcome("grpo/one")).toMatchObject(early);
  });

  test("leaves nothing behind that a forced new run would learn from", async () => {
    const old = optionsOf("rft", "rft/forced", { seed: 5 });
    await cut(old, 3);
    const fresh = { ...optionsOf("rft", "rft/forced"), force: true };
    await api.train(fresh);
    expect(outcome("rft/forced")).toEqual(outcome("rft/one"));
  });

  test("nor go on with", async () => {
    const old = optionsOf("grpo", "grpo/forced", { seed: 5 });
    await cut(old, 3);
    const fresh = optionsOf("grpo", "grpo/forced");
    await cut({ ...fresh, force: true }, 1);
    await api.train({ ...fresh, resume: true });
    expect(outcome("grpo/forced")).toEqual(outcome("grpo/one"));
  });
});

test("killed in the middle and resumed, grpo ends with the same bytes", async () => {
  room.write(
    "mine.ts",
    scorerSource(
      'const reward = /^[0-4]/.test(completion) ? 1 : 0; return { reward, code: reward ? "right" : "wrong", details: {} };',
    ),
  );
  const args = [
    ...["train", "grpo", "--init", "start", "--dataset", "examples.jsonl", "--dev", "dev.jsonl"],
    ...["--scorer", "mine.ts", "--steps", "30", "--save-every", "4", "--eval-every", "3"],
    ...[
      "--set",
      "rollouts.prompts=3",
      "--set",
      "rollouts.group=4",
      "--set",
      "rollouts.max_tokens=5",
    ],
    ...["--set", "alarms_stop=false", "--quiet"],
  ];
  const whole = await room.run([...args, "--outdir", "killing/whole"]);
  expect(whole).toMatchObject({ code: EXIT.ok, stderr: "" });
  const { child, finished } = start(
    process.execPath,
    [BIN, ...args, "--outdir", "killing/killed"],
    room.dir,
  );
  await until(() => existsSync(room.path("killing/killed/state")), "a saved position");
  child.kill("SIGKILL");
  expect((await finished).signal).toBe("SIGKILL");
  expect(room.has("killing/killed", "summary.json")).toBe(false);
  expectError(await room.run([...args, "--outdir", "killing/killed"]), EXIT.usage, /--resume/);
  const resumed = await room.run([...args, "--outdir", "killing/killed", "--resume"]);
  expect(resumed).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(outcome("killing/killed")).toEqual(outcome("killing/whole"));
});

describe("the frozen reference", () => {
  test("that is the policy itself is reported, and ends the run", async () => {
    const settings = { sabotage: "aliased_reference", alarms_stop: true, steps: 12 };
    const { summary } = await run("dpo", "aliased", { settings });
    expect(summary.reference_frozen).toBe(false);
    expect(summary.stop.reason).toBe("reference_aliased");
  });

  test("is reported too where there is no penalty, and a share of the groups is compared", async () => {
    const settings = {
      ...{ sabotage: "aliased_reference", alarms_stop: true, steps: 30 },
      ...{ kl: { mode: "none" }, rollouts: { ...QUICK.rollouts, prompts: 4, group: 32 } },
    };
    const { summary } = await run("grpo", "aliased-share", { settings });
    expect(summary.stop.reason).toBe("reference_aliased");
    const compared = rowsOf<StepRecord>("aliased-share", "metrics").map((step) => step["kl/rows"]);
    expect(new Set(compared)).toEqual(new Set([32]));
  });
});

describe("what is learned from is not what is measured on", () => {
  const shared = (file: string, extra: object) =>
    room.jsonl(file, [...sumsWith(2, 3), { ...sumsWith(1)[4], ...extra }]);

  test.each([
    ["grpo", "s4-1", "other"],
    ["rft", "s4-1", "other"],
    ["sft", "s4-1", "other"],
    ["dpo", "s4-1", "other"],
    ["kto", "s4-1", "other"],
  ])("%s refuses an overlap with the validation set, by both names", async (name, mine, theirs) => {
    shared("overlap.jsonl", { id: theirs, prompt: " 4+1=\n" });
    const result = run(name, `overlap/${name}`, { dev: room.path("overlap.jsonl") });
    await expect(result).rejects.toThrow(new RegExp(`share an example: "${mine}" is "${theirs}"`));
    await expect(result).rejects.toThrow(/overlap\.jsonl/);
    expect(room.has("overlap", name)).toBe(false);
  });

  test("nor may the holdout overlap with either", async () => {
    shared("overlap.jsonl", { id: "other" });
    const holdout = room.path("overlap.jsonl");
    await expect(run("grpo", "overlap/holdout", { holdout, dev: undefined })).rejects.toThrow(
      /"s4-1" is "other"/,
    );
    room.jsonl("both.jsonl", [...sumsWith(7, 2), sumsWith(2)[1]]);
    await expect(run("grpo", "overlap/both", { holdout: room.path("both.jsonl") })).rejects.toThrow(
      /share an example: "s1-2" is "s1-2"/,
    );
  });

  test("nor be the very file that is validated on", async () => {
    const dev = room.path("dev.jsonl");
    await expect(run("grpo", "overlap/same", { dev, holdout: dev })).rejects.toThrow(
      /share an example/,
    );
  });
});

test("what an ancestor learned from is not measured on either", async () => {
  await theRun("grpo");
  const init = room.path("grpo/one/checkpoint");
  const examples = room.path("examples.jsonl");
  room.jsonl("fresh.jsonl", sumsWith(4));
  for (const set of ["dev", "holdout"]) {
    const options = { init, dataset: room.path("fresh.jsonl"), dev: undefined, [set]: examples };
    await expect(run("grpo", `ancestor/${set}`, options)).rejects.toThrow(
      /initial policy learned from .*examples\.jsonl/,
    );
  }
});

test("a run does not replace the policy that it begins with", async () => {
  await run("grpo", "begun/here");
  const before = room.snapshot("begun/here/checkpoint");
  const init = room.path("begun/here/checkpoint");
  await expect(run("grpo", "begun/here", { init, force: true })).rejects.toThrow(
    /checkpoint lies in the output folder/,
  );
  expect(room.snapshot("begun/here/checkpoint")).toEqual(before);
});

describe("a scorer that breaks is never a zero", () => {
  const broken = (when: (row: ScoreRequest) => boolean) =>
    scorerOf("fragile", (row) => (when(row) ? null : Number(/^[0-4]/.test(row.completion))));

  test("in training: the run ends with a sentence, and nothing was learned from the batch", async () => {
    const asked: string[] = [];
    const fragile = broken(({ example }) => {
      asked.push(example.id);
      return asked.length > 24;
    });
    const result = run("grpo", "broken/training", { rewards: [fragile], dev: undefined });
    const error = await result.catch((thrown) => thrown);
    expect(error.message).toMatch(/the scorer fragile gave no reward \(scorer_error\).*it broke/);
    expect(error.hint).toMatch(/never a zero/);
    expect(rowsOf("broken/training", "metrics")).toHaveLength(2);
    expect(room.has("broken/training", "summary.json")).toBe(false);
    expect(isClaimed("broken/training")).toBe(false);
  });

  test("a scorer file that throws, through the command", async () => {
    room.write("throws.ts", scorerSource('throw new Error("no such table");'));
    const result = await room.run([
      ...["train", "grpo", "--init", "start", "--dataset", "examples.jsonl", "--steps", "2"],
      ...["--scorer", "throws.ts", "--set", "rollouts.max_tokens=5", "--outdir", "broken/thrown"],
    ]);
    expectError(result, EXIT.data, /mine gave no reward \(scorer_error\)/, /never a zero/);
    expect(room.read("broken/thrown", "metrics.jsonl")).toBe("");
  });

  test("in rejection sampling: nothing is kept", async () => {
    const fragile = broken(({ example }) => example.id === "s5-1");
    const error = await run("rft", "broken/rft", { rewards: [fragile], dev: undefined }).catch(
      (thrown) => thrown,
    );
    expect(error.message).toMatch(/on s5-1/);
    expect(error.hint).toMatch(/never a zero/);
    expect(room.has("broken/rft", "kept.jsonl")).toBe(false);
  });

  test("as a cost", async () => {
    const cost = broken(() => true);
    const settings = { cost: { limit: 1 } };
    const error = await run("grpo", "broken/cost", { cost, settings }).catch((thrown) => thrown);
    expect(error.message).toMatch(/fragile gave no reward/);
  });

  test.each(["dev", "holdout"])("on the %s set", async (set) => {
    const fragile = broken(({ example }) => /-[23]$/.test(example.id));
    const options = {
      ...{ validation: fragile, settings: { alarms_stop: true }, dev: undefined },
      [set]: room.path(`${set}.jsonl`),
    };
    const error = await run("sft", `broken/${set}`, options).catch((thrown) => thrown);
    expect(error.message).toMatch(/the scorer fragile gave no reward \(scorer_error\)/);
    expect(error.hint).toMatch(/never a zero/);
    expect(room.read(`broken/${set}`, "evaluations.jsonl")).toBe("");
    expect(room.has(`broken/${set}`, "summary.json")).toBe(false);
  });
});

describe("what cannot be learned from is refused in a sentence", () => {
  const first = (name: string, file: string, more: Partial<TrainOptions> = {}) =>
    run(name, `refused/${name}`, { dataset: room.path(file), force: true, ...more });

  test.each(METHODS.map(({ name }) => [name]))("%s: an empty file", async (name) => {
    room.write("empty.jsonl", "");
    await expect(first(name, "empty.jsonl")).rejects.toThrow(/empty\.jsonl is empty/);
    expect(room.has("refused", name)).toBe(false);
  });

  test.each([
    ["sft", { prompt: "1+1=" }, /bad\.jsonl:1: a text needs prompt and completion/],
    [
      "dpo",
      { prompt: "1+1=", chosen: "2" },
      /bad\.jsonl:1: a pair needs prompt, chosen and rejected/,
    ],
    ["orpo", { prompt: "1+1=", rejected: "2" }, /bad\.jsonl:1: a pair needs/],
    [
      "kto",
      { prompt: "1+1=", completion: "2", label: "good" },
      /bad\.jsonl:1: a labelled sample needs label, true or false/,
    ],
    ["grpo", { id: "a" }, /bad\.jsonl:1: "prompt" is missing/],
  ] as const)("%s: a row without what it needs", async (name, row, message) => {
    room.jsonl("bad.jsonl", [row]);
    await expect(first(name, "bad.jsonl")).rejects.toThrow(message);
  });

  test("an id that is there twice, where samples are addressed by it", async () => {
    room.jsonl("bad.jsonl", [...sumsWith(1, 2), { ...sumsWith(1)[0], prompt: "8+8=" }]);
    await expect(first("grpo", "bad.jsonl")).rejects.toThrow(/the id "s0-1" appears twice/);
  });

  const odd = { id: "odd", prompt: "1×1=" };
  test.each([
    ["sft", { ...odd, completion: "1" }],
    ["sft", { id: "odd", prompt: "1+1=", completion: "×" }],
    ["dpo", { ...odd, chosen: "1", rejected: "2" }],
    ["kto", { ...odd, completion: "1", label: true }],
    ["grpo", odd],
    ["rft", odd],
  ])("%s: a character that the policy does not know", async (name, row) => {
    room.jsonl("bad.jsonl", [row]);
    await expect(first(name, "bad.jsonl")).rejects.toThrow(/does not know the character "×"/);
    expect(room.has("refused", name)).toBe(false);
  });

  test.each(["dev", "holdout"])("a character that it does not know in the %s set", async (set) => {
    room.jsonl("bad.jsonl", [{ ...odd, expected_answer: 1 }]);
    const more = { [set]: room.path("bad.jsonl") };
    await expect(first("grpo", "examples.jsonl", more)).rejects.toThrow(/does not know/);
  });

  const long = "1+".repeat(20);
  test.each([
    [
      "sft",
      { id: "long", prompt: long, completion: "1" },
      /"long" has 43 tokens.*context length is 24/,
    ],
    ["dpo", { id: "long", prompt: "1", chosen: long, rejected: "1" }, /"long" has 43 tokens/],
    ["kto", { id: "long", prompt: long, completion: "1", label: true }, /"long" has 43 tokens/],
    ["grpo", { id: "long", prompt: long }, /prompt.*41 tokens.*context length is 24/],
    ["rft", { id: "long", prompt: long }, /prompt.*41 tokens.*context length is 24/],
  ] as const)("%s: a text that is longer than the policy's view", async (name, row, message) => {
    room.jsonl("bad.jsonl", [row]);
    await expect(first(name, "bad.jsonl")).rejects.toThrow(message);
  });

  test.each(["dev", "holdout"])(
    "a prompt of the %s set, before anything is learned",
    async (set) => {
      room.jsonl("bad.jsonl", [{ id: "long", prompt: long }]);
      let steps = 0;
      const more = { [set]: room.path("bad.jsonl"), onStep: () => steps++ };
      await expect(first("grpo", "examples.jsonl", more)).rejects.toThrow(
        /41 tokens.*context length is 24/,
      );
      expect(steps).toBe(0);
    },
  );

  test("methods that sample cannot begin from scratch", async () => {
    const result = first("grpo", "examples.jsonl", { init: "scratch" });
    await expect(result).rejects.toThrow(/grpo cannot start from scratch/);
  });

  test("a setting is named, with what is wrong with it", async () => {
    const wrong = (settings: JsonObject) => first("grpo", "examples.jsonl", { settings });
    await expect(wrong({ stepz: 3 })).rejects.toThrow(/stepz/);
    await expect(wrong({ rollouts: { group: 0 } })).rejects.toThrow(/rollouts\.group/);
    await expect(wrong({ algorithm: { clip_low: -1 } })).rejects.toThrow(/algorithm\.clip_low/);
    await expect(
      run("dpo", "refused/dpo", { settings: { algorithm: { beta: 0 } } }),
    ).rejects.toThrow(/algorithm\.beta/);
  });

  test("nothing that passes, in rejection sampling", async () => {
    const strict = scorerOf("strict", () => 0);
    await expect(first("rft", "examples.jsonl", { rewards: [strict] })).rejects.toThrow(
      /none of the 8 samples of each prompt.*had a reward of 1 or more/,
    );
  });
});

describe("the holdout", () => {
  const holdout = room.path("holdout.jsonl");
  const ids = sumsWith(3, 5).map(({ id }) => id);

  test("is looked at exactly once, at the very end, and the count travels with the policy", async () => {
    const scorer = small();
    const done: number[] = [];
    const onStep = (step: number) => {
      expect(scorer.asked.some(({ example }) => ids.includes(example.id))).toBe(false);
      done.push(step);
    };
    const { summary } = await run("grpo", "held/first", { rewards: [scorer], holdout, onStep });
    expect(done).toEqual([1, 2, 3, 4]);
    const asked = scorer.asked.filter(({ example }) => ids.includes(example.id));
    expect(asked.map(({ example }) => example.id)).toEqual(ids);
    expect(summary.holdout).toEqual({
      ...{ evaluations: 1, before: 0 },
      pass_rate: asked.filter(({ completion }) => /^[0-4]/.test(completion)).length / 5,
    });

    const again = { init: room.path("held/first/checkpoint") };
    const second = await run("dpo", "held/second", { ...again, holdout });
    expect(second.summary.holdout).toMatchObject({ evaluations: 1, before: 1 });
    // One that does not look carries the count on.
    const third = await run("sft", "held/third", { init: room.path("held/second/checkpoint") });
    expect(third.summary.holdout).toEqual({ evaluations: 0, before: 2, pass_rate: null });
    const fourth = await run("ppo", "held/fourth", { init: room.path("held/third/checkpoint") });
    expect(fourth.summary.holdout.before).toBe(2);
    const { trained } = await api.loadCheckpoint(room.path("held/fourth/checkpoint"));
    expect(trained?.holdout_evaluations).toBe(2);
  });

  test("an interruption does not count twice", async () => {
    const options = { ...optionsOf("grpo", "held/cut"), holdout };
    await cut(options, 3);
    const { summary } = await api.train({ ...options, resume: true });
    expect(summary.holdout).toMatchObject({ evaluations: 1, before: 0 });
    await run("grpo", "held/whole", { holdout });
    expect(outcome("held/cut")).toEqual(outcome("held/whole"));
  });
});

describe("in parts", () => {
  const far = async (one: string, other: string) => {
    const [a, b] = [await parametersOf(one), await parametersOf(other)];
    return a.reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] as number))), 0);
  };

  test.each(["sft", "grpo", "dpo"])("%s moves as with the whole batch", async (name) => {
    const settings = {
      ...{ steps: 1, adam: { epsilon: 0.01 }, algorithm: {}, kl: { mode: "fixed" } },
      evaluate: { every: 0 },
    };
    await run(name, `${name}/whole1`, { settings });
    await run(name, `${name}/parts1`, { settings: { ...settings, micro_batch_size: 2 } });
    expect(await far("start", `${name}/whole1/checkpoint`)).toBeGreaterThan(1e-5);
    expect(await far(`${name}/parts1/checkpoint`, `${name}/whole1/checkpoint`)).toBeLessThan(1e-6);
  });

  test("the two rows of a pair stay together, whatever the number of rows at once", async () => {
    const settings = { steps: 1, adam: { epsilon: 0.01 }, evaluate: { every: 0 } };
    await run("dpo", "dpo/odd", { settings: { ...settings, micro_batch_size: 3 } });
    await run("dpo", "dpo/even", { settings });
    expect(await far("dpo/odd/checkpoint", "dpo/even/checkpoint")).toBeLessThan(1e-6);
  });
});

test("adapters are trained in place of everything, and merged into the checkpoint", async () => {
  const settings = { lora: { rank: 2, targets: ["q_proj"] } };
  await run("grpo", "lora/one", { settings });
  const { parameters, placed } = await api.loadCheckpoint(room.path("lora/one/checkpoint"));
  const before = await parametersOf("start");
  for (const { name, offset, size } of placed) {
    const own = parameters.slice(offset, offset + size);
    const same = own.every((x, i) => x === before[offset + i]);
    expect(same, name).toBe(!name.includes("q_proj"));
  }
  await run("grpo", "lora/again", { settings });
  expect(outcome("lora/again")).toEqual(outcome("lora/one"));
  const unknown = { lora: { rank: 2, targets: ["x_proj"] } };
  await expect(run("grpo", "lora/unknown", { settings: unknown })).rejects.toThrow(/"x_proj"/);
});

test("a step's samples are all different draws, though an example comes more than once", async () => {
  room.jsonl("few.jsonl", sumsWith(1, 2));
  const scorer = small();
  const settings = {
    ...{ steps: 1, evaluate: { every: 0 } },
    rollouts: { prompts: 4, group: 6, max_tokens: 12 },
  };
  await run("grpo", "few", { dataset: room.path("few.jsonl"), rewards: [scorer], settings });
  const said = new Map<string, string[]>();
  for (const { example, completion } of scorer.asked) {
    said.set(example.id, [...(said.get(example.id) ?? []), completion]);
  }
  for (const list of said.values()) {
    expect(list).toHaveLength(12);
    expect(list.slice(0, 6)).not.toEqual(list.slice(6));
  }
});

test("samples are what the policy of their step says", async () => {
  await theRun("grpo");
  const rows = rowsOf<{ step: number; id: string; completion: string }>("grpo/one", "samples");
  expect(rows).toHaveLength(3 * 6);
  for (const [step, folder] of [
    [0, "start"],
    [4, "grpo/one/checkpoint"],
  ] as const) {
    const policy = await api.openEmbeddedPolicy(room.path(folder), {
      sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: 5, stop: [], seed: 0 },
    });
    const said = await policy.generate(
      sumsWith(2, 6).map(({ id, prompt }) => ({
        prompt: policy.promptTokens(prompt),
        address: [0, "evaluate", id],
      })),
    );
    await policy.close();
    expect(rows.filter((row) => row.step === step).map(({ completion }) => completion)).toEqual(
      said.map(({ completion }) => completion),
    );
  }
});
