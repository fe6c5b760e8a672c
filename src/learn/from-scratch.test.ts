/** What training says of its data before and while it learns: from scratch, held-out texts, refusals. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Scorer } from "../core/score.ts";
import { loadCheckpoint } from "../policy/checkpoint.ts";
import type { EvaluationRecord, SampleRecord } from "../runs/train-records.ts";
import { openScorer } from "../scorers/open.ts";
import { contextFor, type ScratchPolicy, scratchAdvice } from "./from-scratch.ts";
import type { TrainOptions } from "./options.ts";
import { train } from "./train.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-scratch-"));
afterAll(() => rmSync(folder, { recursive: true }));
const here = (name: string) => path.join(folder, name);
const write = (name: string, rows: readonly object[]) => {
  writeFileSync(here(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return here(name);
};

const text = (letter: string) => ({ id: letter, prompt: `${letter}=`, completion: letter });
const texts = write("texts.jsonl", [..."abcdef"].map(text));
const held = write("held.jsonl", [..."gh"].map(text));
const echo: Scorer = {
  ...{ name: "echo", version: "1", spec: "the letter of the prompt", codes: ["same", "other"] },
  score({ prompt }, completion) {
    const reward = Number(`${completion}=` === prompt);
    return { reward, code: reward ? "same" : "other", details: {} };
  },
};

function learn(outdir: string, more: Partial<TrainOptions> = {}) {
  return train({
    ...{ algorithm: "sft", dataset: texts, init: "scratch", size: "nano", outdir: here(outdir) },
    ...{ threads: 1, saveEvery: 100, settings: { steps: 2, batch: 4 } },
    ...more,
  });
}

describe("a policy from scratch", () => {
  test("derives vocabulary and context from the texts, and says so", async () => {
    const said: ScratchPolicy[] = [];
    await learn("derived", { onScratch: (policy) => said.push(policy) });
    expect(said).toMatchObject([
      { alphabet: "=abcdef", vocabulary: 10, context: 64, texts: 6, tokens: 12, longest: 3 },
    ]);
    const { maxLength, parameters } = await loadCheckpoint(here("derived/checkpoint"));
    expect({ maxLength, parameters: parameters.length }).toEqual({
      maxLength: said[0]?.context,
      parameters: said[0]?.parameters,
    });
  });

  test("takes both as they are given, and records that", async () => {
    const given = { alphabet: "=abcdefgh", context: 24 };
    await learn("given", given);
    const { maxLength, tokenizer } = await loadCheckpoint(here("given/checkpoint"));
    expect({ maxLength, size: tokenizer.size }).toEqual({ maxLength: 24, size: 12 });
    const { settings } = JSON.parse(readFileSync(here("given/manifest.json"), "utf8"));
    expect(settings.scratch).toEqual(given);
    const derived = JSON.parse(readFileSync(here("derived/manifest.json"), "utf8"));
    expect(derived.settings).not.toHaveProperty("scratch");
  });

  test("whose alphabet lacks a character is refused with the row that has it", async () => {
    await expect(learn("lacks", { alphabet: "=abcef" })).rejects.toThrow(
      /texts\.jsonl:4: in "d", the policy does not know the character "d"/,
    );
    await expect(learn("short", { context: 4 })).rejects.toThrow(/texts\.jsonl:1: .* 5 tokens/);
    expect(existsSync(here("lacks")) || existsSync(here("short"))).toBe(false);
  });

  test("advice grows with the data", () => {
    const few = scratchAdvice({ texts: 800, tokens: 3200 }, { steps: 1000, batch: 64 });
    expect(few).toEqual({ passes: 80, size: "nano", steps: 250 });
    const many = scratchAdvice({ texts: 2e5, tokens: 2e7 }, { steps: 1000, batch: 64 });
    expect(many.size).toBe("small");
    expect(many.steps).toBeGreaterThan(10_000);
    expect([contextFor(3), contextFor(62), contextFor(63)]).toEqual([64, 64, 80]);
  });
});

describe("validation", () => {
  test("has the held-out loss, the outcome codes and samples; random weights know nothing", async () => {
    const said: [EvaluationRecord, readonly SampleRecord[]][] = [];
    const validation = await openScorer(echo);
    await learn("validated", {
      ...{ validation, dev: held, alphabet: "=abcdefgh" },
      settings: { steps: 2, batch: 4, evaluate: { every: 2, max_tokens: 3 } },
      onValidation: (record, samples) => said.push([record, samples]),
    });
    expect(said.map(([{ step }]) => step)).toEqual([0, 2]);
    for (const [record, samples] of said) {
      expect(Object.values(record.outcomes).reduce((sum, count) => sum + count, 0)).toBe(2);
      expect(samples.map(({ id }) => id)).toEqual(["g", "h"]);
    }
    // Of 12 tokens, all about as likely.
    expect(Math.abs((said[0]?.[0].loss as number) - Math.log(12))).toBeLessThan(0.5);
    expect(said[1]?.[0].loss).toBeLessThan(said[0]?.[0].loss as number);
  });

  test("without completions there is no loss to speak of", async () => {
    const said: EvaluationRecord[] = [];
    const bare = write("bare.jsonl", [{ id: "g", prompt: "g=" }]);
    await learn("bare-run", {
      ...{ validation: await openScorer(echo), dev: bare, alphabet: "=abcdefgh" },
      onValidation: (record) => said.push(record),
    });
    expect(said.length).toBeGreaterThan(0);
    for (const record of said) expect(record).not.toHaveProperty("loss");
  });
});

describe("data that cannot be used", () => {
  test("a leak is told with both lines, and how many rows there are", async () => {
    const leak = write("leak.jsonl", [text("x"), text("c"), text("e")]);
    await expect(learn("leaks", { dev: leak, validation: await openScorer(echo) })).rejects.toThrow(
      /texts\.jsonl:3 and .*leak\.jsonl:2 share an example: "c" is "c" \(2 of 6 rows of .*texts\.jsonl are held out\)/,
    );
    expect(existsSync(here("leaks"))).toBe(false);
  });

  test("unknown characters are named with file and row, in texts and in examples", async () => {
    const start = here("derived/checkpoint");
    const odd = write("odd.jsonl", [text("a"), { id: "o", prompt: "ö=", completion: "a" }]);
    const says = /odd\.jsonl:2: in "o", the policy does not know the character "ö" \(U\+00F6\)/;
    await expect(learn("odd-run", { init: start, dataset: odd })).rejects.toThrow(says);
    const rewards = [await openScorer(echo)];
    await expect(
      learn("odd-run", { algorithm: "grpo", init: start, dataset: odd, rewards, settings: {} }),
    ).rejects.toThrow(says);
    expect(existsSync(here("odd-run"))).toBe(false);
  });

  test("examples that the default scorer cannot read stop training before the first update", async () => {
    const start = here("derived/checkpoint");
    const steps: number[] = [];
    const run = (dataset: string) =>
      openScorer().then((scorer) =>
        learn("read", {
          ...{ algorithm: "grpo", init: start, dataset, rewards: [scorer], outdir: here("read") },
          settings: { steps: 1, rollouts: { prompts: 2, group: 2, max_tokens: 2 } },
          onStep: (step) => steps.push(step),
        }),
      );
    const answered = { id: "k", prompt: "a=", expected_answer: 1 };
    const mixed = write("mixed.jsonl", [answered, { id: "l", prompt: "b=" }]);
    await expect(run(mixed)).rejects.toMatchObject({
      kind: "data",
      message: expect.stringMatching(
        /mixed\.jsonl:2: the scorer math_final_line cannot read "l": .* \(1 of 2 examples\)/,
      ),
      hint: expect.stringContaining("Give --scorer FILE"),
    });
    expect(existsSync(here("read"))).toBe(false);
    expect(steps).toEqual([]);
    await run(write("good.jsonl", [answered, { id: "l", prompt: "b=", expected_answer: 2 }]));
    expect(steps).toEqual([1]);
  });

  test("the same of a validation set", async () => {
    const validation = await openScorer();
    await expect(
      learn("dev-read", { dev: held, validation, alphabet: "=abcdefgh" }),
    ).rejects.toThrow(/held\.jsonl:1: the scorer math_final_line cannot read "g"/);
    expect(existsSync(here("dev-read"))).toBe(false);
  });
});
