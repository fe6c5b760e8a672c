/** A paused training: what is resumed is what was paused, to the byte. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import type { GuardedScorer } from "../core/score.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { readSafetensors, safetensorsBytes } from "../policy/safetensors.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import { readTrainingRun } from "../runs/read-training-run.ts";
import { openScorer } from "../scorers/open.ts";
import type { TrainOptions } from "./options.ts";
import { train } from "./train.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-paused-"));
const here = (...names: string[]) => path.join(folder, ...names);
let scorer: GuardedScorer;
afterAll(async () => {
  await scorer.close();
  rmSync(folder, { recursive: true });
});

const STOP = new Error("stopped");
const tokenizer = new CharacterTokenizer("0123456789+=");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};

function options(algorithm: string, outdir: string): TrainOptions {
  return {
    ...{ algorithm, outdir: here(outdir), init: here("start"), size: "nano", threads: 1 },
    ...{ dataset: here("tasks.jsonl"), dev: here("dev.jsonl"), saveEvery: 2, rewards: [scorer] },
    settings: {
      ...{ steps: 6, batch: 4, alarms_stop: false, evaluate: { every: 2, max_tokens: 3 } },
      rollouts: { prompts: 3, group: 2, max_tokens: 3 },
      ...(algorithm === "rft" && { algorithm: { threshold: 0, samples: 2 } }),
    },
  };
}

async function pause(algorithm: string, outdir: string, at: number): Promise<void> {
  const onStep = (done: number) => {
    if (done === at) throw STOP;
  };
  await expect(train({ ...options(algorithm, outdir), onStep })).rejects.toBe(STOP);
}

/** Every file with its bytes. */
function content(dir: string): Record<string, string> {
  const files = readdirSync(here(dir), { recursive: true }) as string[];
  const plain = files.filter((name) => statSync(here(dir, name)).isFile()).sort();
  return Object.fromEntries(plain.map((name) => [name, sha256(readFileSync(here(dir, name)))]));
}

const jsonl = (name: string, rows: readonly object[]) =>
  writeFileSync(here(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const edit = (file: string, change: (text: string) => string) =>
  writeFileSync(file, change(readFileSync(file, "utf8")));

beforeAll(async () => {
  scorer = await openScorer({
    ...{ name: "short", version: "1", spec: "test", codes: ["short", "long"] },
    score: (_example, completion) =>
      completion.length < 3
        ? { reward: 1, code: "short", details: {} }
        : { reward: 0, code: "long", details: {} },
  });
  await saveCheckpoint(here("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 64 },
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  const sums = (b: number) =>
    Array.from({ length: 6 }, (_, a) => ({ id: `${a}${b}`, prompt: `${a}+${b}=` }));
  jsonl("tasks.jsonl", sums(1));
  jsonl("dev.jsonl", sums(2));
  await pause("grpo", "paused", 5);
  await pause("rft", "kept", 3);
}, 60_000);

describe("left as it was", () => {
  test.each([
    ["grpo", 5],
    ["grpo", 3],
    ["rft", 3],
  ])("a paused %s ends with the bytes of one that ran through", async (algorithm, at) => {
    const [whole, cut] = [`${algorithm}-whole`, `${algorithm}-cut${at}`];
    if (!readdirSync(folder).includes(whole)) await train(options(algorithm, whole));
    await pause(algorithm, cut, at);
    await train({ ...options(algorithm, cut), resume: true });
    // Seconds and the time of day are there, and nowhere else.
    const timeless = (dir: string) => ({
      ...content(dir),
      "timing.jsonl": "",
      "manifest.json": "",
    });
    expect(timeless(cut)).toEqual(timeless(whole));
    expect((await readTrainingRun(here(cut))).edited).toEqual([]);
  });

  test("killed before a state was in states.jsonl, it has the line all the same", async () => {
    cpSync(here("paused"), here("killed"), { recursive: true });
    edit(here("killed/states.jsonl"), (text) =>
      text.slice(0, text.trimEnd().lastIndexOf("\n") + 9),
    );
    await train({ ...options("grpo", "killed"), resume: true });
    expect(content("killed")["states.jsonl"]).toBe(content("grpo-whole")["states.jsonl"]);
  });
});

describe("states.jsonl", () => {
  test("chains the states to the manifest, and its hash is in the summary", async () => {
    const { manifest, summary } = await readTrainingRun(here("grpo-whole"));
    const text = readFileSync(here("grpo-whole/states.jsonl"), "utf8");
    expect(sha256(text)).toBe(summary?.states_sha256);
    let chain = manifestFingerprint(manifest);
    const rows = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ step }) => step)).toEqual([2, 4]);
    for (const row of rows) {
      chain = sha256(`${chain}\n${row.state_sha256}`);
      expect(row.chain).toBe(chain);
    }
  });

  test("edited after the run, it is named, and so are the kept samples", async () => {
    for (const [run, file] of [
      ["grpo-whole", "states.jsonl"],
      ["rft-whole", "kept.jsonl"],
    ] as const) {
      cpSync(here(run), here(`${run}-edited`), { recursive: true });
      edit(here(`${run}-edited`, file), (text) => `${text}\n`);
      expect((await readTrainingRun(here(`${run}-edited`))).edited).toEqual([file]);
    }
  });
});

/** Other weights in a state, as the engine itself would have written them. */
async function plantWeights(dir: string): Promise<void> {
  const file = path.join(dir, "state/engine.safetensors");
  const tensors = await readSafetensors(file);
  const planted = [...tensors].map(([name, { shape, data }]) => ({
    ...{ name, shape },
    data: name === "parameters" ? data.map((x) => 2 * x) : data,
  }));
  writeFileSync(file, Buffer.concat([...safetensorsBytes(planted)]));
}

/** The same, with the hash in resume.json made to fit. */
async function plantAndRehash(dir: string): Promise<void> {
  await plantWeights(dir);
  const file = path.join(dir, "state/resume.json");
  const state = JSON.parse(readFileSync(file, "utf8"));
  state.files["engine.safetensors"] = sha256(
    readFileSync(path.join(dir, "state/engine.safetensors")),
  );
  writeFileSync(file, JSON.stringify(state));
}

/** The same bytes, at a place outside of the run. */
function linkOutside(name: string): (dir: string) => void {
  return (dir) => {
    const outside = `${dir} ${name}`;
    renameSync(path.join(dir, name), outside);
    symlinkSync(outside, path.join(dir, name));
  };
}

function flipByte(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length - 3] = (bytes[bytes.length - 3] as number) ^ 1;
  writeFileSync(file, bytes);
}

describe("changed while it was paused, it is refused by name, and stays as it is", () => {
  test.each<[string, RegExp, (dir: string) => void | Promise<void>]>([
    ["weights planted", /state\/engine\.safetensors is not what/, plantWeights],
    ["weights planted, hash fitted", /state\/resume\.json is not what/, plantAndRehash],
    [
      "a byte flipped",
      /state\/engine\.safetensors is not what/,
      (dir) => flipByte(path.join(dir, "state/engine.safetensors")),
    ],
    [
      "the optimiser's step edited",
      /state\/engine\.json is not what/,
      (dir) => edit(path.join(dir, "state/engine.json"), (text) => text.replace("4", "3")),
    ],
    [
      "a file removed",
      /state\/engine\.json is missing/,
      (dir) => rmSync(path.join(dir, "state/engine.json")),
    ],
    [
      "a file replaced by a folder",
      /state\/engine\.json is not what/,
      (dir) => {
        rmSync(path.join(dir, "state/engine.json"));
        mkdirSync(path.join(dir, "state/engine.json"));
      },
    ],
    [
      "a stream replaced by a link",
      /states\.jsonl is a symbolic link/,
      linkOutside("states.jsonl"),
    ],
    ["a short stream replaced by a link", /alarms\.jsonl is a symb/, linkOutside("alarms.jsonl")],
    [
      "a stream replaced by a folder",
      /alarms\.jsonl is a folder/,
      (dir) => {
        rmSync(path.join(dir, "alarms.jsonl"));
        mkdirSync(path.join(dir, "alarms.jsonl"));
      },
    ],
    [
      "a file added",
      /state\/more\.bin is not what/,
      (dir) => writeFileSync(path.join(dir, "state/more.bin"), "x"),
    ],
    [
      "resume.json removed",
      /resume\.json is damaged or of another version/,
      (dir) => rmSync(path.join(dir, "state/resume.json")),
    ],
    [
      "the coefficient of the next batch edited",
      /state\/resume\.json is not what/,
      (dir) =>
        edit(path.join(dir, "state/resume.json"), (text) =>
          text.replace(/"kl_coefficient":[\d.]+/, '"kl_coefficient":9'),
        ),
    ],
    [
      "the whole state removed",
      /state is missing/,
      (dir) => rmSync(path.join(dir, "state"), { recursive: true }),
    ],
    [
      "an old metric edited",
      /metrics\.jsonl is not what/,
      (dir) => edit(path.join(dir, "metrics.jsonl"), (text) => text.replace('"loss":', '"loss":1')),
    ],
    [
      "metrics damaged",
      /metrics\.jsonl is not what/,
      (dir) => edit(path.join(dir, "metrics.jsonl"), (text) => text.replace("{", "[")),
    ],
    [
      "metrics cut short",
      /metrics\.jsonl is shorter than the saved state expects/,
      (dir) => edit(path.join(dir, "metrics.jsonl"), (text) => text.slice(0, 9)),
    ],
    [
      "metrics removed",
      /metrics\.jsonl is shorter than the saved state expects/,
      (dir) => rmSync(path.join(dir, "metrics.jsonl")),
    ],
    [
      "timing emptied",
      /timing\.jsonl is shorter than the saved state expects/,
      (dir) => writeFileSync(path.join(dir, "timing.jsonl"), ""),
    ],
    [
      "an evaluation edited",
      /evaluations\.jsonl is not what/,
      (dir) => edit(path.join(dir, "evaluations.jsonl"), (text) => text.replace("0", "1")),
    ],
    [
      "an earlier link of the chain edited",
      /states\.jsonl is not what/,
      (dir) =>
        edit(path.join(dir, "states.jsonl"), (text) =>
          text.replace(/"state_sha256":"\w/, (found) => found.replace(/\w$/, "x")),
        ),
    ],
  ])("%s", async (name, message, sabotage) => {
    const dir = `sabotaged ${name}`;
    cpSync(here("paused"), here(dir), { recursive: true });
    await sabotage(here(dir));
    const before = content(dir);
    await expect(train({ ...options("grpo", dir), resume: true })).rejects.toMatchObject({
      ...{ kind: "data", message: expect.stringMatching(message) },
    });
    expect(content(dir)).toEqual(before);
  });

  test("samples that rft had kept", async () => {
    const file = here("kept/kept.jsonl");
    edit(file, (text) => text.replace('"completion":"', '"completion":"7'));
    const before = content("kept");
    await expect(train({ ...options("rft", "kept"), resume: true })).rejects.toMatchObject({
      ...{ kind: "data", message: expect.stringMatching(/kept\.jsonl is not what/) },
    });
    expect(content("kept")).toEqual(before);
  });
});

test("a best policy that was exchanged is not kept as that of the run", async () => {
  const stopping = (outdir: string, more: Partial<TrainOptions> = {}): TrainOptions => {
    const given = options("grpo", outdir);
    const settings = { ...given.settings, ...{ alarms_stop: true, sabotage: "inverted_rate" } };
    return {
      ...{ ...given, ...more },
      settings: { ...settings, steps: 40, rate: { peak: 0.05, warmup: 0 }, kl_limit: 0.05 },
    };
  };
  const { summary } = await train(stopping("alarmed"));
  expect(summary.stop.reason).not.toBe("all steps done");
  expect(summary.stop.kept).toBeLessThan(summary.stop.step);
  const onStep = (done: number) => {
    if (done !== summary.stop.step - 1) return;
    rmSync(here("exchanged/best"), { recursive: true });
    cpSync(here("grpo-whole/checkpoint"), here("exchanged/best"), { recursive: true });
  };
  await expect(train(stopping("exchanged", { onStep }))).rejects.toMatchObject({
    ...{ kind: "data", message: expect.stringMatching(/best is not the policy/) },
  });
}, 60_000);
