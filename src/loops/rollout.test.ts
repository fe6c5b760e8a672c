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
