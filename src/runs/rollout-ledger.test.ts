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
import { seedsTried, type TriedRollout } from "./rollout-ledger.ts";

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

const TRIED: TriedRollout = {
  ...{ policy: "f", prompts_sha256: "e", prompt: { form: "text" }, seed: 0 },
  sampling: { temperature: 1, top_p: 1 },
};
const tried = (changes: Partial<TriedRollout> = {}) => seedsTried(dir, { ...TRIED, ...changes });

test("each seed has its place, and the same one again keeps it", async () => {
  const places: unknown[] = [];
  for (const seed of [7, 3, 7, 9, 3]) places.push(await tried({ seed }));
  expect(places).toEqual([1, 2, 1, 3, 2]);
  expect(lines()).toHaveLength(3);
});

test.each([
  ["examples", { prompts_sha256: "other" }],
  ["a prompt setting", { prompt: { form: "chat template" } }],
  ["a sampling setting", { sampling: { temperature: 0.7, top_p: 1 } }],
  ["a policy", { policy: "other" }],
])("another %s is another count", async (_, changes) => {
  await tried({ seed: 1 });
  expect(await tried({ seed: 2, ...changes })).toBe(1);
  expect(await tried({ seed: 2 })).toBe(2);
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

test("eight processes at once each get a place of their own", async () => {
  const module = path.resolve("dist/runs/rollout-ledger.js");
  const code = `import { seedsTried } from ${JSON.stringify(module)};
    const [dir, seed] = process.argv.slice(-2);
    console.log(await seedsTried(dir, { ...${JSON.stringify(TRIED)}, seed: Number(seed) }));`;
  const start = (seed: number) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", code, dir, String(seed)]);
  const all = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(start));
  const places = all.map(({ stdout }) => Number(stdout)).sort();
  expect(places).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
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
