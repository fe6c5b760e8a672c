import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../core/environment.ts";
import { wrapEngine } from "../engine/engine.ts";
import { ENVIRONMENTS } from "../environments/scored-prompts.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { timingRecordSchema } from "../runs/train-records.ts";
import { openScorer } from "../scorers/open.ts";
import { ENGINES, type EngineRequest, openLocalEngine } from "./engines.ts";
import type { TrainOptions } from "./options.ts";
import { train } from "./train.ts";

test.each([
  [{ engine: "constructor" }, 'there is no engine "constructor"', ENGINES],
  [{ environment: "maze" }, 'there is no environment "maze"', ENVIRONMENTS],
])("%o is refused before anything is written", async (wrong, message, table) => {
  const hint = `Choose one of ${Object.keys(table).join(", ")}.`;
  const training = train({
    ...{ algorithm: "sft", dataset: "missing.jsonl", outdir: "unset", settings: { steps: 1 } },
    ...{ init: "scratch", size: "nano", threads: 1, saveEvery: 1, ...wrong },
  });
  await expect(training).rejects.toMatchObject({ kind: "usage", message, hint });
  expect(existsSync("unset")).toBe(false);
});

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-training-"));
afterAll(() => rmSync(folder, { recursive: true }));
const here = (name: string) => path.join(folder, name);
const tokenizer = new CharacterTokenizer("0123456789+= ?");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};

const jsonl = (name: string, rows: readonly object[]) =>
  writeFileSync(here(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const linesOf = (run: string, name: string) =>
  readFileSync(path.join(here(run), name), "utf8")
    .trimEnd()
    .split("\n");

beforeAll(async () => {
  await saveCheckpoint(here("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 64 },
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  const sums = (b: string) =>
    Array.from({ length: 6 }, (_, a) => ({
      ...{ id: `${a}${b}`, prompt: `${a}+${b}=`, expected_answer: a },
    }));
  jsonl("tasks.jsonl", sums("1"));
  jsonl("dev.jsonl", sums("2".repeat(44)));
  // Long prompts have short completions and the other way round: mixed, some exceed every row.
  const labels = sums("3").map((row, i) => ({
    ...{ id: row.id, label: i !== 2 },
    prompt: i % 2 ? `${"7+".repeat(9)}${row.prompt}` : row.prompt,
    completion: i % 2 ? "5" : "5".repeat(18),
  }));
  jsonl("labels.jsonl", labels);
});

function options(algorithm: string, outdir: string, more: Partial<TrainOptions>): TrainOptions {
  return {
    ...{ algorithm, outdir: here(outdir), init: here("start"), size: "nano", threads: 1 },
    ...{ dataset: here("tasks.jsonl"), saveEvery: 2 },
    ...more,
    settings: {
      ...{ steps: 4, batch: 6, alarms_stop: false, evaluate: { every: 2, max_tokens: 4 } },
      ...{ rollouts: { prompts: 3, group: 2, max_tokens: 4 }, ...more.settings },
    },
  };
}

/** Asks again after the first answer; pays half for a digit in either turn. */
const askedTwice: Environment<number> = {
  identity: { name: "asked_twice", version: "1" },
  reset: async ({ prompt }) => ({
    ...{ state: 0, reward: 0, observation: [{ role: "user", content: prompt }] },
  }),
  step: async (batch) =>
    batch.map(({ state, action }) => ({
      ...{ state: state + 1, observation: [{ role: "user" as const, content: "?" }] },
      reward: /\d/.test(action.text) ? 0.5 : 0,
      ...(state === 1 && { end: { code: "asked_twice", terminated: true, details: {} } }),
    })),
};

describe("an environment of two turns", () => {
  test("is trained in and validated in, without a scorer, and named in the manifest", async () => {
    const dev = here("dev.jsonl");
    await train(options("grpo", "two", { environment: askedTwice, dev }));
    const manifest = JSON.parse(readFileSync(here("two/manifest.json"), "utf8"));
    expect(manifest).toMatchObject({ environment: askedTwice.identity, scorers: [] });
    for (const line of linesOf("two", "metrics.jsonl"))
      expect(JSON.parse(line).outcomes).toEqual({ asked_twice: 6 });
    for (const line of linesOf("two", "evaluations.jsonl"))
      expect(JSON.parse(line).outcomes).toEqual({ asked_twice: 6 });
  });
});

test("validation uses its own scorer, and the reward's is the proxy", async () => {
  const scorer = (name: string, reward: number) =>
    openScorer({
      ...{ name, version: "1", spec: "test", codes: [name] },
      score: reward === 1 ? () => ({ reward: 1, code: "easy", details: {} }) : strict,
    });
  const strict = () => ({ reward: 0, code: "strict", details: {} });
  const [easy, hard] = [await scorer("easy", 1), await scorer("strict", 0)];
  const dev = here("dev.jsonl");
  await train(options("grpo", "apart", { rewards: [easy], validation: hard, dev }));
  for (const line of linesOf("apart", "evaluations.jsonl")) {
    expect(JSON.parse(line)).toMatchObject({ reward_mean: 0, proxy_mean: 1, pass_rate: 0 });
    expect(JSON.parse(line).outcomes).toEqual({ strict: 6 });
  }
  expect(JSON.parse(linesOf("apart", "metrics.jsonl")[0] ?? "").outcomes).toEqual({ easy: 6 });
});

test("what KTO learns does not depend on the validation set", async () => {
  const dataset = here("labels.jsonl");
  const settings = { steps: 8, rate: { peak: 0.01, warmup: 0 } };
  const alone = await train(options("kto", "alone", { dataset, settings }));
  const validation = await openScorer();
  const dev = here("dev.jsonl");
  const measured = await train(options("kto", "measured", { dataset, settings, dev, validation }));
  expect(linesOf("measured", "metrics.jsonl").map((line) => JSON.parse(line).loss)).toEqual([
    ...linesOf("alone", "metrics.jsonl").map((line) => expect.closeTo(JSON.parse(line).loss, 4)),
  ]);
  expect(measured.summary.steps).toBe(alone.summary.steps);
});

describe("the share of the rows that the KL is estimated from", () => {
  const stop = new Error("stopped");
  const onStep = (done: number) => {
    if (done === 3) throw stop;
  };
  const given = (diagnostic_share: number, more: Partial<TrainOptions> = {}) =>
    options("grpo", "share", {
      ...{ environment: askedTwice, ...more },
      settings: { kl: { diagnostic_share }, rollouts: { prompts: 3, group: 32, max_tokens: 3 } },
    });

  test("is recorded, and a run is resumed only with the same", async () => {
    await expect(train(given(0.34, { onStep }))).rejects.toBe(stop);
    const manifest = JSON.parse(readFileSync(here("share/manifest.json"), "utf8"));
    expect(manifest.settings.kl).toMatchObject({ mode: "none", diagnostic_share: 0.34 });
    await expect(train(given(1, { resume: true }))).rejects.toThrow(/other settings \(kl\)/);
    await train(given(0.34, { resume: true }));
    const rows = linesOf("share", "metrics.jsonl").map((line) => JSON.parse(line)["kl/rows"]);
    expect(rows).toEqual([32, 32, 32, 32]);
  });
});

describe("the share of the computed positions that rows use", () => {
  const shares = [0.5, 0.75];
  beforeAll(() => {
    Object.assign(ENGINES, {
      async telling(request: EngineRequest) {
        const engine = await openLocalEngine(request);
        let updates = 0;
        return wrapEngine(engine, {
          update: async (...call) => ({
            ...(await engine.update(...call)),
            usedShare: shares[updates++ % shares.length],
          }),
        });
      },
    });
  });
  afterAll(() => {
    Reflect.deleteProperty(ENGINES, "telling");
  });

  test.each([
    [1, [0.5, 0.75, 0.5, 0.75]],
    [2, [0.625, 0.625, 0.625, 0.625]],
  ])("is in timing.jsonl: the mean of the updates of a step, %d each", async (epochs, expected) => {
    const settings = { algorithm: { epochs } };
    const given = { environment: askedTwice, engine: "telling", settings };
    await train(options("grpo", `used${epochs}`, given));
    const lines = linesOf(`used${epochs}`, "timing.jsonl").map((line) => JSON.parse(line));
    expect(lines.map((line) => timingRecordSchema.parse(line).used_share)).toEqual([
      ...expected,
      // The last line is of evaluations after the last update.
      undefined,
    ]);
  });
});
