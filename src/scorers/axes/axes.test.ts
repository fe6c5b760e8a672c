/** The embedded axes: golden rows, every code, totality and determinism. */

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Example, GoldenRow } from "../../core/records.ts";
import type { ScoreResult } from "../../core/score.ts";
import { AXES } from "./index.ts";

const file = (name: string) => new URL(`../../../data/probes/${name}.jsonl`, import.meta.url);
const rowsOf = <T>(name: string): T[] =>
  readFileSync(file(name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
const PROBES = new Map(rowsOf<Example>("probes").map((example) => [example.id, example]));

describe.each(AXES.map((scorer) => [scorer.name, scorer] as const))("%s", (name, scorer) => {
  const golden = rowsOf<GoldenRow>(`golden_${name}`);
  const score = (example: unknown, completion: unknown) =>
    scorer.score(example as Example, completion as string) as ScoreResult;

  test.each(golden.map((row, i) => [`${i} ${row.note}`, row] as const))("%s", (_, row) => {
    const { reward, code } = score(PROBES.get(row.id), row.completion);
    expect({ reward, code: expect.any(String) }).toEqual({ reward: row.expected_reward, code });
  });

  test("golden rows reach every code but those of broken input", () => {
    const reached = new Set(golden.map((row) => score(PROBES.get(row.id), row.completion).code));
    const own = (scorer.codes ?? []).filter(
      (code) => code !== "invalid_example" && code !== "not_text",
    );
    expect(own.filter((code) => !reached.has(code))).toEqual([]);
  });

  test("labels that cannot be read measure nothing; a completion that is no text gets 0", () => {
    const example = { id: "a", prompt: "Hello." };
    for (const axis_labels of [1, [], "x", { refuse: "yes" }, { max_words: 0 }, { other: 1 }])
      expect(score({ ...example, axis_labels }, "Hello.").code).toBe("invalid_example");
    expect(score({ ...example, axis_labels: { refuse: false } }, "Hello.").reward).toBe(1);
    expect(score(example, 12)).toMatchObject({ reward: 0, code: "not_text" });
  });

  test("it is total and deterministic, and its rewards are from 0 to 1", () => {
    const thrower = Object.defineProperty({}, "prompt", {
      get() {
        throw new Error("no");
      },
    });
    for (const odd of [null, undefined, 1, "x", [], thrower])
      expect(scorer.codes).toContain(score(odd, "Hello.").code);
    fc.assert(
      fc.property(fc.jsonValue(), fc.oneof(fc.string(), fc.jsonValue()), (example, completion) => {
        const found = score(example, completion);
        expect(scorer.codes).toContain(found.code);
        expect(found.reward).toBeGreaterThanOrEqual(0);
        expect(found.reward).toBeLessThanOrEqual(1);
        expect(score(example, completion)).toEqual(found);
      }),
      { numRuns: 200 },
    );
  });

  test("a long completion takes time in proportion to its length", () => {
    const units = ["a", "9", "final answer ", "A b ", '"', " ", "[", "1 ", "sorry ", "x@", "A-"];
    for (const unit of [...units, "\n", "curl ", "first, ", "here is ", "<answer>", "a."]) {
      const long = unit.repeat(1e5 / unit.length);
      const began = performance.now();
      score({ id: "a", prompt: long }, long);
      expect({ unit, late: performance.now() - began > 1000 }).toEqual({ unit, late: false });
    }
  });
});
