/** The ledger of a checkpoint folder: what it counts, and that nothing in its way is an error. */

import { execFile } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { SketchMaker } from "../core/example-sketch.ts";
import { seedsTried, type TriedRollout, triesInLedger } from "./rollout-ledger.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-ledger-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
let count = 0;
beforeEach(() => {
  dir = path.join(root, String(count++));
  mkdirSync(dir);
});
const file = () => path.join(dir, "rollouts.jsonl");
const lines = () => readFileSync(file(), "utf8").trimEnd().split("\n");

function sketchOf(from: number, to: number, prefix = "e", word = "Compute") {
  const maker = new SketchMaker();
  for (let i = from; i < to; i++) maker.add({ id: `${prefix}${i}`, prompt: `${word} ${i} + 1.` });
  return maker.sketch().stored();
}

const TRIED: TriedRollout = {
  ...{ policy: "f", prompts_sha256: "e", prompt: { form: "text" }, seed: 0 },
  examples: sketchOf(0, 40),
  sampling: { temperature: 1, top_p: 1 },
};
const tried = (changes: Partial<TriedRollout> = {}) => seedsTried(dir, { ...TRIED, ...changes });

test("the number is that of all seeds so far, also for one that comes again", async () => {
  const counts: unknown[] = [];
  for (const seed of [7, 3, 7, 9, 3]) counts.push(await tried({ seed }));
  expect(counts).toEqual([1, 2, 2, 3, 3]);
  expect(lines()).toHaveLength(3);
});

test.each([
  ["a row fewer", { prompts_sha256: "other", examples: sketchOf(0, 39) }],
  ["a single row of them", { prompts_sha256: "other", examples: sketchOf(7, 8) }],
  ["other capital letters", { prompts_sha256: "other", examples: sketchOf(0, 40, "e", "COMPUTE") }],
  ["rows in another order", { prompts_sha256: "other" }],
  ["a prompt setting", { prompt: { form: "chat template" } }],
  ["a sampling setting", { sampling: { temperature: 0.7, top_p: 1 } }],
])("%s does not make a count of its own", async (_, changes) => {
  for (let seed = 1; seed <= 5; seed++) await tried({ seed, ...(seed % 2 ? changes : {}) });
  expect(await tried({ seed: 6 })).toBe(6);
  expect(await tried({ seed: 1, ...changes })).toBe(6);
});

test.each([
  ["other examples", { prompts_sha256: "other", examples: sketchOf(100, 140) }],
  ["another policy", { policy: "other" }],
])("%s have another count", async (_, changes) => {
  await tried({ seed: 1 });
  expect(await tried({ seed: 2, ...changes })).toBe(1);
  expect(await tried({ seed: 2 })).toBe(2);
});

test("the same seed is one try of a part and the whole; under other ids it is another", async () => {
  await tried({ seed: 1 });
  expect(await tried({ prompts_sha256: "part", examples: sketchOf(0, 20), seed: 1 })).toBe(1);
  const renamed = { prompts_sha256: "ids", examples: sketchOf(0, 40, "x"), seed: 1 };
  expect(await tried(renamed)).toBe(2);
});

test("parts of a large data set are recognised, and a line stays short", async () => {
  await tried({ prompts_sha256: "all", examples: sketchOf(0, 20_000), seed: 1 });
  const part = { prompts_sha256: "part", examples: sketchOf(1, 20_000), seed: 2 };
  expect(await tried(part)).toBe(2);
  for (const line of lines()) expect(line.length).toBeLessThan(16_000);
});

test("what a rollout counted lies between then and now", async () => {
  for (const seed of [1, 2, 3, 4]) await tried({ seed });
  expect(await triesInLedger(dir, { ...TRIED, seed: 2 })).toEqual({ least: 2, most: 4 });
  expect(await triesInLedger(dir, { ...TRIED, seed: 5 })).toBeUndefined();
});

test("without a seed there is one try", async () => {
  expect([await tried({ seed: null }), await tried({ seed: null })]).toEqual([1, 1]);
});

test("an unfinished line of a killed process is left behind", async () => {
  await tried({ seed: 1 });
  appendFileSync(file(), '{"schema":"locked');
  expect(await tried({ seed: 2 })).toBe(2);
  expect(await tried({ seed: 2 })).toBe(2);
});

test("eight processes at once each add a line, and none misses its own", async () => {
  const module = path.resolve("dist/runs/rollout-ledger.js");
  const code = `import { seedsTried } from ${JSON.stringify(module)};
    const [dir, seed] = process.argv.slice(-2);
    console.log(await seedsTried(dir, { ...${JSON.stringify(TRIED)}, seed: Number(seed) }));`;
  const start = (seed: number) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", code, dir, String(seed)]);
  const all = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(start));
  const counts = all.map(({ stdout }) => Number(stdout)).sort();
  expect(counts.at(-1)).toBe(8);
  for (const [i, count] of counts.entries()) expect(count).toBeGreaterThan(i);
  expect(lines()).toHaveLength(8);
});

describe("nobody counts, and nothing fails,", () => {
  test("where there is no folder", async () => {
    expect(await seedsTried(path.join(dir, "none"), TRIED)).toBeNull();
  });

  test("where a folder has the name", async () => {
    mkdirSync(file());
    expect(await tried()).toBeNull();
  });

  test("where it is a link, which is not followed", async () => {
    const target = path.join(root, `target-${count}`);
    symlinkSync(target, file());
    expect(await tried()).toBeNull();
    expect(existsSync(target)).toBe(false);
    writeFileSync(target, "");
    expect(await tried()).toBeNull();
    expect(readFileSync(target, "utf8")).toBe("");
  });
});
