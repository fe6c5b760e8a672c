/** The loop with a policy of our own making: what is asked, in which order it is kept, what fails. */

import { execFileSync } from "node:child_process";
import {
  createWriteStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { dataError } from "../core/errors.ts";
import type { Policy, SampledCompletion, SampleRequest } from "../core/policy.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import { PromptSet } from "../core/prompt-set.ts";
import { type RolloutOptions, rollout } from "./rollout.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-loop-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
let count = 0;
beforeEach(() => {
  dir = path.join(root, String(count++));
  execFileSync("mkdir", [dir]);
  writeData(40);
});

const file = (...names: string[]) => path.join(dir, ...names);
const read = (...names: string[]) => readFileSync(file(...names), "utf8");
const writeData = (rows: number, word = "p") =>
  writeFileSync(
    file("d.jsonl"),
    Array.from(
      { length: rows },
      (_, i) => `${JSON.stringify({ id: `e${i}`, prompt: `${word}${i}` })}\n`,
    ).join(""),
  );

const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 8, stop: [], seed: 0 };

interface Options {
  /** In which order the asks of a window are answered. */
  readonly order?: (asks: SampleRequest[]) => SampleRequest[];
  /** Fails before this many answers were given. */
  readonly failAt?: number;
  readonly onAsk?: () => void;
}

class Parrot implements Policy {
  readonly identity = { kind: "parrot" };
  readonly prompt = { form: "text" };
  readonly sampling = SAMPLING;
  readonly asked: string[] = [];
  readonly #options: Options;

  constructor(options: Options = {}) {
    this.#options = options;
  }

  async *sample(
    requests: Iterable<SampleRequest>,
  ): AsyncGenerator<readonly [SampleRequest, SampledCompletion]> {
    const { order = (all) => all, failAt, onAsk } = this.#options;
    for (const ask of order([...requests])) {
      if (this.asked.length === failAt) throw dataError("the parrot flew away", "Call it.");
      this.asked.push(`${ask.example.id} ${ask.sample}`);
      onAsk?.();
      const completion = `${ask.example.prompt}/${ask.sample}`;
      yield [
        ask,
        {
          ...{ completion, finish: "stop", prompt_tokens: 2, completion_tokens: 1 },
          ...{ logprobs: [-0.5, -1], sampled_logprobs: [-0.25, -0.5] },
        },
      ];
    }
  }

  async close(): Promise<void> {}
}

const roll = (policy: Policy, options: Partial<RolloutOptions> = {}) =>
  rollout({ policy, dataset: file("d.jsonl"), n: 2, outdir: file("r"), ...options });

test("rows hold what the policy said, both kinds of log-probs and their sum", async () => {
  await roll(new Parrot(), { n: 1 });
  expect(JSON.parse(read("r", "completions.jsonl").split("\n")[1] as string)).toEqual({
    id: "e1",
    completion: "p1/0",
    finish: "stop",
    prompt_tokens: 2,
    completion_tokens: 1,
    logprobs: [-0.5, -1],
    sampled_logprobs: [-0.25, -0.5],
    sum_logprob: -1.5,
    prompt_fingerprint: promptFingerprint("p1"),
  });
});

test("the order in which answers come changes no byte", async () => {
  await roll(new Parrot());
  await roll(new Parrot({ order: (asks) => asks.toReversed() }), { outdir: file("back") });
  for (const name of ["samples.jsonl", "samples.provenance.json", "summary.json"]) {
    expect(read("back", name)).toBe(read("r", name));
  }
});

describe("after a failure", () => {
  test.each([1, 33, 79])("at answer %i, --resume asks for exactly the rest", async (failAt) => {
    const first = new Parrot({ failAt, order: (asks) => asks.toReversed() });
    await expect(roll(first)).rejects.toMatchObject({
      message: "the parrot flew away",
      hint: "Call it. The answers so far are kept: go on with the same command and --resume.",
    });
    expect(existsSync(file("r", ".running"))).toBe(false);
    const second = new Parrot();
    const seen: number[][] = [];
    await roll(second, { resume: true, onStart: (...numbers) => seen.push(numbers) });
    expect(seen).toEqual([[80, failAt]]);
    expect([...first.asked, ...second.asked].sort()).toHaveLength(80);
    expect(new Set([...first.asked, ...second.asked]).size).toBe(80);
    await roll(new Parrot(), { outdir: file("whole") });
    expect(read("r", "samples.jsonl")).toBe(read("whole", "samples.jsonl"));
    expect(read("r", "summary.json")).toBe(read("whole", "summary.json"));
  });

  test("of every sitting but the last", async () => {
    const asked: string[] = [];
    for (let sitting = 0; sitting < 5; sitting++) {
      const policy = new Parrot({ failAt: 15 });
      await expect(roll(policy, { resume: true })).rejects.toThrow();
      asked.push(...policy.asked);
    }
    const last = new Parrot();
    await roll(last, { resume: true });
    expect(new Set([...asked, ...last.asked]).size).toBe(80);
    expect(last.asked).toHaveLength(5);
  });

  test("a sitting that adds nothing takes nothing away", async () => {
    await expect(roll(new Parrot({ failAt: 33 }))).rejects.toThrow();
    const idle = roll(new Parrot({ failAt: 0 }), { resume: true });
    await expect(idle).rejects.toMatchObject({ hint: expect.stringContaining("--resume") });
    const rest = new Parrot();
    await roll(rest, { resume: true });
    expect(rest.asked).toHaveLength(80 - 33);
  });

  test("before any answer, nothing stays and nothing needs --resume", async () => {
    await expect(roll(new Parrot({ failAt: 0 }))).rejects.toMatchObject({ hint: "Call it." });
    expect(existsSync(file("r"))).toBe(false);
    await roll(new Parrot());
  });

  test("of a replacement, the finished rollout is still there, and the replacement goes on", async () => {
    await roll(new Parrot());
    const before = read("r", "samples.jsonl");
    await expect(roll(new Parrot({ failAt: 9 }), { n: 3, force: true })).rejects.toThrow();
    expect(read("r", "samples.jsonl")).toBe(before);
    const rest = new Parrot();
    await roll(rest, { n: 3, resume: true });
    expect(rest.asked).toHaveLength(120 - 9);
    expect(read("r", "samples.jsonl")).not.toBe(before);
  });
});

describe("the data set", () => {
  test("that changes while it is asked about is refused, and the answers are kept", async () => {
    const policy = new Parrot({ onAsk: () => writeData(40, "q") });
    writeData(40, "p");
    await expect(roll(policy)).rejects.toThrow(/changed while it was used/);
    expect(existsSync(file("r", "summary.json"))).toBe(false);
    expect(existsSync(file("r", "journal.jsonl"))).toBe(true);
  });

  test("that is a pipe is refused before anything is asked", async () => {
    const text = read("d.jsonl");
    rmSync(file("d.jsonl"));
    execFileSync("mkfifo", [file("d.jsonl")]);
    createWriteStream(file("d.jsonl")).end(text);
    const policy = new Parrot();
    await expect(roll(policy)).rejects.toThrow(/is not a file/);
    expect(policy.asked).toEqual([]);
  });
});

describe("what the policy met before", () => {
  const met = (...prompts: string[]) => {
    const set = new PromptSet();
    for (const prompt of prompts) set.add(prompt);
    return set;
  };
  const having = (learned: PromptSet, validated: PromptSet) =>
    Object.assign(new Parrot(), { seen: { learned, validated } });

  test("is counted by row, and the first rows are named", async () => {
    const learned = met("P0", " p3 ", "p9", "p11", "p12", "p13", "p14", "elsewhere");
    const { manifest } = await roll(having(learned, met("p39")));
    expect(manifest.exposure).toMatchObject({
      learned: { rows: 7, first_ids: ["e0", "e3", "e9", "e11", "e12"], of: 8 },
      validated: { rows: 1, first_ids: ["e39"], of: 1 },
    });
    expect(manifest.exposure?.learned.false_positive_rate).toBeCloseTo(8 / 2 ** 40, 20);
    const provenance = JSON.parse(read("r", "samples.provenance.json"));
    expect(provenance.exposure).toEqual(manifest.exposure);
  });

  test("is nothing where the data is new, and null where it is unknown", async () => {
    const { manifest } = await roll(having(met("elsewhere"), met()));
    expect(manifest.exposure?.learned).toMatchObject({ rows: 0, first_ids: [], of: 1 });
    const unknown = await roll(new Parrot(), { outdir: file("unknown") });
    expect(unknown.manifest).toMatchObject({ exposure: null, seeds_tried: null });
    expect(unknown.manifest.volatile).not.toHaveProperty("checkpoint");
  });
});

describe("the tries of a checkpoint", () => {
  const seeded = (seed: number, sampling: object = {}, failAt?: number) =>
    Object.assign(new Parrot(failAt === undefined ? {} : { failAt }), {
      identity: { kind: "checkpoint", fingerprint: "f" },
      place: { path: "given/here", ledger: dir },
      sampling: { ...SAMPLING, seed, ...sampling },
    });
  const triedBy = async (policy: Policy, outdir: string) => {
    const { manifest } = await roll(policy, { outdir: file(outdir), n: 1 });
    const provenance = JSON.parse(read(outdir, "completions.provenance.json"));
    expect(provenance.seeds_tried).toBe(manifest.seeds_tried);
    expect(provenance.checkpoint).toBe("given/here");
    expect(manifest.volatile.checkpoint).toBe("given/here");
    return manifest.seeds_tried;
  };

  test("are counted by seed: the best of three has a number above one", async () => {
    expect(await triedBy(seeded(5), "a")).toBe(1);
    expect(await triedBy(seeded(6), "b")).toBe(2);
    expect(await triedBy(seeded(7), "c")).toBe(3);
  });

  test("do not grow by the same seed again: the same ledger gives the same bytes", async () => {
    await triedBy(seeded(6), "b");
    await triedBy(seeded(5), "a");
    expect(await triedBy(seeded(5), "again")).toBe(2);
    for (const name of ["completions.jsonl", "completions.provenance.json", "summary.json"]) {
      expect(read("again", name)).toBe(read("a", name));
    }
  });

  test.each([{ temperature: 0 }, { top_k: 1 }])("with %o are one", async (greedy) => {
    expect(await triedBy(seeded(5, greedy), "a")).toBe(1);
    expect(await triedBy(seeded(6, greedy), "b")).toBe(1);
  });

  test("that were interrupted count: somebody could read the answers", async () => {
    const failing = seeded(5, {}, 3);
    await expect(roll(failing, { outdir: file("a"), n: 1 })).rejects.toThrow();
    expect(await triedBy(seeded(6), "b")).toBe(2);
    const resumed = await roll(seeded(5), { outdir: file("a"), n: 1, resume: true });
    expect(resumed.manifest.seeds_tried).toBe(2);
  });
});

describe("a journal", () => {
  /** One with 33 answers to the 40 examples, two samples each. */
  async function interrupted(): Promise<string[]> {
    await expect(roll(new Parrot({ failAt: 33 }))).rejects.toThrow();
    return read("r", "journal.jsonl").trimEnd().split("\n");
  }

  async function refused(journal: readonly string[], says: RegExp): Promise<void> {
    const text = `${journal.join("\n")}\n{"id":"e39","sam`;
    writeFileSync(file("r", "journal.jsonl"), text);
    const policy = new Parrot();
    const again = roll(policy, { resume: true });
    await expect(again).rejects.toMatchObject({
      ...{ kind: "data", message: expect.stringMatching(says) },
      hint: expect.stringContaining("--force"),
    });
    expect(policy.asked).toEqual([]);
    expect(read("r", "journal.jsonl")).toBe(text);
    await roll(new Parrot(), { force: true });
  }

  test.each([
    ["a completion that is no text", { completion: 7 }],
    ["log-probs that are texts", { logprobs: ["-1"] }],
    ["a negative number of tokens", { completion_tokens: -1 }],
  ])("with %s is refused, and stays as it is", async (_, wrong) => {
    const journal = await interrupted();
    const row = JSON.parse(journal[9] as string);
    journal[9] = JSON.stringify({ ...row, answer: { ...row.answer, ...wrong } });
    await refused(journal, /journal\.jsonl:10: /);
  });

  test("with two answers to one request is refused, and stays as it is", async () => {
    const journal = await interrupted();
    const row = JSON.parse(journal[9] as string);
    const other = { ...row, answer: { ...row.answer, completion: "Final: 2" } };
    const says = /journal\.jsonl .*two different answers for sample 0 of example "e4"/;
    await refused([...journal, JSON.stringify(other)], says);
  });

  test("with a sample that nobody asked for is refused", async () => {
    const journal = await interrupted();
    const row = JSON.parse(journal[9] as string);
    await refused([...journal, JSON.stringify({ ...row, sample: 2 })], /sample 2 with --n 2/);
  });

  test("that repeats an answer, or ends in the middle of a line, goes on", async () => {
    const journal = await interrupted();
    const text = [...journal, journal[9]].join("\n");
    writeFileSync(file("r", "journal.jsonl"), `${text}\n{"id":"e39","sam`);
    const rest = new Parrot();
    const seen: number[][] = [];
    await roll(rest, { resume: true, onStart: (...numbers) => seen.push(numbers) });
    expect(seen).toEqual([[80, 33]]);
    expect(rest.asked).toHaveLength(80 - 33);
    await roll(new Parrot(), { outdir: file("whole") });
    expect(read("r", "samples.jsonl")).toBe(read("whole", "samples.jsonl"));
  });
});

test("a prompt that the policy cannot read is named by id and line, before anything is asked", async () => {
  writeData(5);
  writeFileSync(file("d.jsonl"), `\n${read("d.jsonl")}{"id":"x","prompt":"long"}\n`);
  const policy = Object.assign(new Parrot(), {
    requirePrompt(prompt: string) {
      if (prompt === "long") throw dataError("a prompt has 9 tokens", "Shorten it.");
    },
  });
  await expect(roll(policy)).rejects.toMatchObject({
    kind: "data",
    message: `${file("d.jsonl")}:7: example "x": a prompt has 9 tokens`,
    hint: 'Shorten it. The line reads: {"id":"x","prompt":"long"}',
  });
  expect(policy.asked).toEqual([]);
});
