/** What eval prints of graded rewards, and that it prints nothing of them where there are none. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { evaluate } from "../loops/eval.ts";
import { printOutcome } from "./commands/eval.ts";

afterEach(() => vi.restoreAllMocks());

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-graded-"));
const examples = Array.from({ length: 20 }, (_, i) => ({
  ...{ id: `t${i}`, prompt: `question ${i}`, language: i % 2 ? "de" : "en" },
}));
const graded = (levels: number) => ({
  ...{ name: "graded", version: "1", spec: "the number in the completion", range: [0, 1] as const },
  score: (_: unknown, completion: string) => ({
    ...{ reward: (Number(completion) % levels) / (levels - 1), code: "graded", details: {} },
  }),
});

async function printed(levels: number): Promise<string> {
  const outcome = await evaluate({
    ...{ dataset: examples, outdir: path.join(root, String(levels)), slice: ["language"] },
    completions: examples.map(({ id }, i) => ({ id, completion: String(i) })),
    scorer: graded(levels),
  });
  let text = "";
  vi.spyOn(process.stdout, "write").mockImplementation((part) => {
    text += part;
    return true;
  });
  printOutcome(outcome);
  vi.restoreAllMocks();
  return text;
}

test("graded rewards have an interval, by slice too, and the gate's metric is named", async () => {
  const text = await printed(5);
  expect(text).toMatch(/mean reward {2}0\.5000 {2}95 % interval 0\.\d{3} to 0\.\d{3}$/m);
  expect(text).toContain("Rewards are graded: gate and compare use the mean reward.");
  expect(text).toMatch(/^ {2}language +scored +pass rate +mean +95 % interval$/m);
  expect(text).toMatch(/^ {2}de +10 +0\.2000 +0\.5000 +0\.\d{3} to 0\.\d{3}$/m);
});

test("rewards of 0 and 1 have the interval of the pass rate only", async () => {
  const text = await printed(2);
  expect(text).toMatch(/mean reward {2}0\.5000$/m);
  expect(text).not.toContain("graded:");
  expect(text).toMatch(/^ {2}language +scored +pass rate +95 % interval$/m);
});
