/** A two-step run with a program of one's own in place of the training. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { TWO_STEP_UPDATES, type TwoStepProgram, trainOnDraws } from "./two-step.ts";
import { runTwoStep } from "./two-step-run.ts";

const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-two-step-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const program: TwoStepProgram = (draws, training) => [
  ...trainOnDraws(draws, training, TWO_STEP_UPDATES.both),
];

function run(name: string, own?: TwoStepProgram) {
  return runTwoStep({
    ...{ steps: 20, seed: 3, lr: 0.5, baseline: true, credit: "both" },
    ...{ outdir: path.join(dir, name), program: own },
  });
}

test("the same program gives the log and the figures of the built-in one, and is named as its own", async () => {
  const [built, own] = [await run("built"), await run("own", program)];
  const log = (name: string) => readFileSync(path.join(dir, name, "log.jsonl"), "utf8");
  expect(log("own")).toBe(log("built"));
  expect(own.summary.metrics).toEqual(built.summary.metrics);
  expect(own.manifest.learning).toMatchObject({ program: "own" });
  expect(built.manifest.learning).not.toHaveProperty("program");
});

test.each<[string, TwoStepProgram, RegExp]>([
  ["a line too few", (...args) => program(...args).slice(1), /19 lines for 20 episodes/],
  ["no log", () => undefined as never, /undefined for 20 episodes/],
  [
    "lines that count from 0",
    (...args) => program(...args).map((line) => ({ ...line, step: line.step - 1 })),
    /the line of step 1 has step 0/,
  ],
  [
    "no baseline",
    (...args) => program(...args).map((line) => ({ ...line, baseline: Number.NaN })),
    /has baseline null/,
  ],
  [
    "no policy",
    (...args) => program(...args).map((line) => ({ ...line, policy_after: {} as never })),
    /the line of step 1 gave \{\}, which is not a policy/,
  ],
])("a program that returns %s is refused by name", async (name, own, message) => {
  await expect(run(name, own)).rejects.toThrow(message);
});
