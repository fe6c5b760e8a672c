/** Runs that end before their last step, as train writes and tells them. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { readTrainingRun } from "../runs/read-training-run.ts";
import { openScorer } from "../scorers/open.ts";
import { algorithmOf } from "./algorithms/index.ts";
import type { EarlyStop, TrainOptions } from "./options.ts";
import { idleSettings } from "./settings/unused.ts";
import { train } from "./train.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-early-stop-"));
afterAll(() => rmSync(folder, { recursive: true }));
const here = (name: string) => path.join(folder, name);
const jsonl = (name: string, rows: readonly object[]) =>
  writeFileSync(here(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
jsonl("texts.jsonl", [{ id: "a", prompt: "1+1=", completion: "2" }]);
jsonl("dev.jsonl", [
  { id: "b", prompt: "2+1=" },
  { id: "c", prompt: "2+2=" },
]);

/** Passes everything, so that the reward is 1 from the start. */
const scorer = await openScorer({
  ...{ name: "easy", version: "1", spec: "test", codes: ["easy"] },
  score: () => ({ reward: 1, code: "easy", details: {} }),
});
afterAll(() => scorer.close());

/** Validations every 4 steps, which all have the same tokens. */
async function run(outdir: string, stop: JsonObject, more: Partial<TrainOptions> = {}) {
  const stops: EarlyStop[] = [];
  const { summary } = await train({
    ...{ algorithm: "sft", dataset: here("texts.jsonl"), init: "scratch", size: "nano" },
    ...{ alphabet: "0123456789+=", outdir: here(outdir), threads: 1, saveEvery: 1000 },
    ...{ dev: here("dev.jsonl"), validation: scorer, onStop: (one) => stops.push(one), ...more },
    settings: {
      ...{ steps: 6, batch: 1, stop, alarms_stop: false },
      evaluate: { every: 4, max_tokens: 1 },
    },
  });
  return { summary, stops };
}

const manifestOf = (outdir: string) =>
  JSON.parse(readFileSync(path.join(here(outdir), "manifest.json"), "utf8"));

test("a run without a condition that is met does all steps, and tells of no stop", async () => {
  const { summary, stops } = await run("whole", { target: 2 });
  expect(summary.stop).toEqual({ reason: "all steps done", step: 6, kept: 6 });
  expect(stops).toEqual([]);
  expect(manifestOf("whole").volatile.time_budget_s).toBeUndefined();
});

test("a condition ends the run at its validation, and summary and listener say why", async () => {
  const { summary, stops } = await run("target", { target: 1 });
  expect(summary).toMatchObject({ steps: 4, stop: { reason: "target", step: 4, kept: 0 } });
  expect(stops).toEqual([{ reason: "target", step: 4, message: summary.stop.message }]);
  expect(summary.stop.message).toMatch(/^The validation reward is 1 on 2 examples/);
});

test("a budget ends the run between validations, and validates once more", async () => {
  await run("unlimited", {});
  const [first] = (await readTrainingRun(here("unlimited"))).steps;
  const { summary } = await run("budget", { tokens: 5 * (first?.values.tokens ?? 0) });
  expect(summary).toMatchObject({ steps: 5, stop: { reason: "tokens", step: 5 } });
  const { evaluations } = await readTrainingRun(here("budget"));
  expect(evaluations.map(({ step }) => step)).toEqual([0, 4, 5]);
});

test("a time budget is marked in the volatile block, and a repetition stops where it did", async () => {
  const { summary } = await run("timed", { seconds: 1e-9 });
  expect(summary).toMatchObject({ steps: 1, stop: { reason: "seconds" } });
  expect(summary.stop.message).toContain("cannot be repeated exactly");
  expect(manifestOf("timed").volatile.time_budget_s).toBe(1e-9);
  const again = await run("again", { seconds: 1e-9 }, { timeIsUpAt: 3 });
  expect(again.summary).toMatchObject({ steps: 3, stop: { reason: "seconds" } });
  const never = await run("never", { seconds: 1e-9 }, { timeIsUpAt: null });
  expect(never.summary.stop.reason).toBe("all steps done");
});

test("a condition on validation is refused where nothing is validated", async () => {
  const blind = run("blind", { target: 1 }, { dev: undefined });
  await expect(blind).rejects.toMatchObject({
    kind: "usage",
    hint: expect.stringMatching("--dev"),
  });
});

test("a margin on two validation examples is refused, and a target on them is not", async () => {
  await expect(run("few", { margin: 0.1 })).rejects.toMatchObject({
    kind: "usage",
    message: expect.stringMatching(/20 validation examples or more, and .* has 2/),
  });
  expect((await run("enough", { target: 2, tokens: 1 })).summary.stop.reason).toBe("tokens");
});

test("a baseline without a margin and a price without a budget are reported as without effect", () => {
  const named = (stop: JsonObject) =>
    idleSettings(algorithmOf("grpo"), { steps: 1, stop }).map(({ because }) => because);
  expect(named({ baseline: 0.5, price: 2 })).toEqual([
    "stop.baseline has no effect without stop.margin",
    "stop.price has no effect without stop.money",
  ]);
  expect(named({ baseline: 0.5, margin: 0, price: 2, money: 1 })).toEqual([]);
});
