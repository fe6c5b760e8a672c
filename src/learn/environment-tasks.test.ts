/** Training on the tasks of an environment: no data set, no scorer. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlayableEnvironment, Turn } from "../core/environment.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { openPlayable } from "../environments/playable.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { readTrainingRun } from "../runs/read-training-run.ts";
import type { TrainOptions } from "./options.ts";
import { train } from "./train.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-tasks-"));
afterAll(() => rmSync(folder, { recursive: true }));
const here = (name: string) => path.join(folder, name);
const tokenizer = new CharacterTokenizer("ab?");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};

beforeAll(() =>
  saveCheckpoint(here("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 24 },
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  }),
);

const TURNS = 3;

/** Three questions; each `a` in an answer pays, and three of them solve the task. */
function asked(memoryless: boolean, more: Partial<PlayableEnvironment> = {}): PlayableEnvironment {
  interface State {
    readonly turn: number;
    readonly right: number;
  }
  const observation = [{ role: "user" as const, content: "?" }];
  const step = ({ turn, right }: State, text: string): Turn<State> => {
    const good = Number(text.includes("a"));
    const next = { turn: turn + 1, right: right + good };
    const code = next.right === TURNS ? "solved" : "failed";
    return {
      ...{ state: next, observation, reward: good / TURNS, metrics: { tool_errors: 1 - good } },
      ...(next.turn === TURNS && { end: { code, terminated: true, details: {} } }),
    };
  };
  const tasks = (split: string, count: number): Example[] =>
    // The prompt says which task it is; the policy cannot even read it.
    Array.from({ length: count }, (_, i) => ({ id: `${split}-${i}`, prompt: `${split} ${i}` }));
  return {
    environment: {
      identity: { name: "asked", version: "1" },
      memoryless,
      reset: async () => ({ state: { turn: 0, right: 0 }, observation, reward: 0 }),
      step: async (batch) => batch.map(({ state, action }) => step(state as State, action.text)),
    },
    ...{ tools: [], codes: ["solved", "failed"], solved: ["solved"], rewards: [0, 1] },
    tasks: async (split) => tasks(split, { train: 6, dev: 5, holdout: 4 }[split]),
    close: async () => {},
    ...more,
  };
}

function options(outdir: string, more: Partial<TrainOptions>): TrainOptions {
  return {
    ...{ algorithm: "grpo", outdir: here(outdir), init: here("start"), size: "nano" },
    ...{ threads: 1, saveEvery: 1, environment: asked(true), ...more },
    settings: {
      ...{
        steps: 2,
        batch: 6,
        alarms_stop: false,
        evaluate: { every: 1, max_tokens: 3, tasks: 4 },
      },
      ...{ rollouts: { prompts: 3, group: 2, max_tokens: 3 }, ...more.settings },
    },
  };
}

const hashOf = (tasks: readonly Example[]) =>
  sha256(tasks.map((task) => `${canonicalJson(task as Json)}\n`).join(""));

describe("tasks of an environment", () => {
  test("are learned from and validated on, and the manifest names them by split and hash", async () => {
    await train(options("plain", {}));
    const { manifest, evaluations } = await readTrainingRun(here("plain"));
    const { tasks } = asked(true);
    expect(manifest).toMatchObject({
      environment: { name: "asked" },
      scorers: [],
      inputs: [
        {
          role: "examples",
          path: null,
          split: "train",
          rows: 6,
          sha256: hashOf(await tasks("train")),
        },
        { role: "dev", path: null, split: "dev", rows: 4 },
      ],
    });
    expect(manifest.inputs[1]?.sha256).toBe(hashOf((await tasks("dev")).slice(0, 4)));
    // A task counts as solved by its code: a reward of 1 is 0.9999… in thirds.
    const { solved = 0, failed = 0 } = evaluations[0]?.outcomes ?? {};
    expect(solved + failed).toBe(4);
    expect(evaluations[0]?.pass_rate).toBe(solved / 4);
    const { seen } = await loadCheckpoint(here("plain/checkpoint"));
    expect(seen?.learned.has("train 3")).toBe(true);
    expect(seen?.validated.has("dev 3")).toBe(true);
    expect(seen?.validated.has("dev 4")).toBe(false);
    expect(seen?.learned.has("holdout 0")).toBe(false);
  });

  test("give the same run as their file, and a data set may be a part of them", async () => {
    const tasks = await asked(true).tasks("train");
    writeFileSync(
      here("all.jsonl"),
      tasks.map((task) => `${canonicalJson(task as Json)}\n`).join(""),
    );
    await train(options("file", { dataset: here("all.jsonl") }));
    await train(options("memory", {}));
    const metrics = (run: string) => readFileSync(here(`${run}/metrics.jsonl`), "utf8");
    expect(metrics("file")).toBe(metrics("memory"));
    const [one, two] = [await readTrainingRun(here("file")), await readTrainingRun(here("memory"))];
    expect(one.manifest.inputs[0]?.sha256).toBe(two.manifest.inputs[0]?.sha256);
    expect(one.manifest.inputs[0]?.path).toBe(here("all.jsonl"));
  });

  test("are not learned from where they are held out", async () => {
    const dev = await asked(true).tasks("dev");
    writeFileSync(here("dev.jsonl"), dev.map((task) => `${JSON.stringify(task)}\n`).join(""));
    await expect(train(options("leak", { dataset: here("dev.jsonl") }))).rejects.toThrow(
      /dev\.jsonl:1 and the dev tasks of asked share an example/,
    );
    const again = train(
      options("again", { init: here("plain/checkpoint"), dev: here("all.jsonl") }),
    );
    await expect(again).rejects.toThrow(/learn/);
  });

  test("of other content end a resumed run, the same ones do not", async () => {
    const stopped = train({
      ...options("stopped", {}),
      onStep: () => {
        throw new Error("stopped here");
      },
    });
    await expect(stopped).rejects.toThrow("stopped here");
    const other: PlayableEnvironment["tasks"] = async (split) =>
      (await asked(true).tasks(split)).map((task) => ({ ...task, prompt: `${task.prompt}!` }));
    const changed = train(
      options("stopped", { resume: true, environment: asked(true, { tasks: other }) }),
    );
    await expect(changed).rejects.toThrow(/other|differ|resume/);
    await train(options("stopped", { resume: true }));
    const metrics = (run: string) => readFileSync(here(`${run}/metrics.jsonl`), "utf8");
    expect(metrics("stopped")).toBe(metrics("memory"));
  });
});

describe("refused before anything is written:", () => {
  test.each([
    ["a method that reads a file", { algorithm: "sft" }, /sft learns from a file/],
    ["no rewards", { environment: asked(true, { rewards: null }) }, /gives no rewards of its own/],
    ["no tasks", { environment: asked(true, { tasks: async () => [] }) }, /has no train tasks/],
    ["no data at all", { environment: undefined, algorithm: "sft" }, /sft has no training data/],
  ])("%s", async (_, more, message) => {
    await expect(train(options("refused", more))).rejects.toThrow(message);
    expect(existsSync(here("refused"))).toBe(false);
  });

  test("an embedded environment without a reward", async () => {
    const environment = await openPlayable("support-replies");
    await expect(train(options("refused", { environment }))).rejects.toThrow(/no rewards/);
  });
});
