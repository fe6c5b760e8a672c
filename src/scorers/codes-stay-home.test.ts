/** The harness knows no scorer's outcome codes: what it needs of them, the scorer declares. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { INVALID_EXAMPLE } from "../core/score.ts";
import { loadScorer } from "./load.ts";
import { mathFinalLine } from "./math-final-line.ts";

const SRC = fileURLToPath(new URL("..", import.meta.url));

/**
 * Levels and quizzes are about this scorer, and attacks and forgeries write what it would write.
 * Environments declare codes of their own. The code for an unreadable example is the harness's own.
 */
const isHarness = (file: string) =>
  file.endsWith(".ts") &&
  !/\.(?:test|contract)\.ts$/.test(file) &&
  !/^(?:course|environments|harden|laboratory|scorers[/\\]math-final-line)/.test(file);

test("no other source names a code of math_final_line", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(isHarness);
  expect(files.length).toBeGreaterThan(300);
  const codes = mathFinalLine.codes.filter((code) => code !== INVALID_EXAMPLE);
  const quoted = new RegExp(`["'\`](?:${codes.join("|")})["'\`]`);
  expect(files.filter((file) => quoted.test(readFileSync(path.join(SRC, file), "utf8")))).toEqual(
    [],
  );
});

const SCORER = {
  ...{ name: "own", version: "1", spec: "nothing" },
  score: () => ({ reward: 0, code: "no_json", details: {} }),
};

test("a scorer's classes are part of what a run records of it", async () => {
  const classes = { no_json: "model_format" };
  const { identity } = await loadScorer({ ...SCORER, classes });
  expect(identity.classes).toEqual(classes);
  expect((await loadScorer(SCORER)).identity).not.toHaveProperty("classes");
  const builtIn = (await loadScorer()).identity.classes ?? {};
  expect(Object.keys(builtIn)).toEqual(mathFinalLine.codes.filter((code) => code !== "ok"));
});

test.each([[["no_json"]], ["no_json"], [{ no_json: 1 }], [{ no_json: "\u202e" }]])(
  "classes that are %j are refused",
  async (classes) => {
    const scorer = { ...SCORER, classes } as unknown as typeof SCORER;
    await expect(loadScorer(scorer)).rejects.toThrow(/`classes` must be an object/);
  },
);
