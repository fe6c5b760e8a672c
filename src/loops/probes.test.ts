/** A scorer is valid only if it answers every JSON value, wherever a file can hold one. */

import { describe, expect, test } from "vitest";
import type { Json } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { ScoreResult, Scorer } from "../core/score.ts";
import { mathFinalLine } from "../scorers/math-final-line.ts";
import { validateScorer, validationReport } from "./validate.ts";

interface Fields {
  readonly expected_answer?: Json;
  readonly hint?: Json;
}

const dataset: (Example & Fields)[] = [
  { id: "a", prompt: "1 + 1", expected_answer: 2 },
  { id: "b", prompt: "1 + 2", expected_answer: 3, hint: "three" },
];
const golden = [
  { id: "a", completion: "Final: 2", expected_reward: 1, note: "" },
  { id: "b", completion: "Final: 4", expected_reward: 0, note: "" },
];

/** Right on both golden rows, after `inspect` had its chance to throw. */
function scorer(inspect: (example: Fields, completion: unknown) => void): Scorer<Fields> {
  return {
    ...{ name: "probed", version: "1", spec: "the golden rows" },
    score(example, completion): ScoreResult {
      inspect(example, completion);
      return { reward: completion === "Final: 2" ? 1 : 0, code: "x", details: {} };
    },
  };
}

const validate = (given: Scorer<Fields>) => validateScorer({ dataset, golden, scorer: given });

const depthOf = (value: unknown): number =>
  Array.isArray(value) ? 1 + Math.max(0, ...value.slice(0, 1).map(depthOf)) : 0;
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const refuse = (odd: boolean) => {
  if (odd) throw new Error("did not think of this");
};

/** Places of a value that a careless scorer does not think of. */
const FORGOTTEN: [string, (value: unknown) => boolean][] = [
  ["null", (value) => value === null],
  ["an empty list", (value) => Array.isArray(value) && value.length === 0],
  ["a number", (value) => value === 1],
  ["a text", (value) => value === "x"],
  ["true", (value) => value === true],
  ["an object", (value) => JSON.stringify(value) === "{}"],
  ["a nested list", (value) => depthOf(value) > 100],
  ["a long text", (value) => typeof value === "string" && value.length >= 1_000_000],
  ["a long list", (value) => Array.isArray(value) && value.length >= 100_000],
  ["many keys", (value) => isObject(value) && Object.keys(value).length === 10_000],
];

describe("a scorer that throws", () => {
  test.each(FORGOTTEN)("on %s as completion is not valid", async (_, odd) => {
    const report = await validate(scorer((_, completion) => refuse(odd(completion))));
    expect(report.counts).toMatchObject({ agrees: 2, scorer_error: 0 });
    expect(report.valid).toBe(false);
    expect(report.probeFailures[0]).toMatchObject({
      probe: "completion",
      message: expect.stringContaining("did not think of this"),
    });
  });

  test.each(FORGOTTEN)("on %s in a field of the example is not valid", async (_, odd) => {
    const report = await validate(scorer(({ expected_answer }) => refuse(odd(expected_answer))));
    expect(report.counts).toMatchObject({ agrees: 2, scorer_error: 0 });
    expect(report.valid).toBe(false);
    expect(new Set(report.probeFailures.map(({ probe, field }) => `${probe} ${field}`))).toEqual(
      new Set(["example_field expected_answer"]),
    );
  });

  test("on a missing field, or on one that only another example has, is not valid", async () => {
    const missing = await validate(
      scorer(({ expected_answer }) => refuse(expected_answer === undefined)),
    );
    const rare = await validate(scorer(({ hint = "" }) => refuse(typeof hint !== "string")));
    expect([missing.valid, rare.valid]).toEqual([false, false]);
    expect(missing.probeFailures).toHaveLength(1);
    expect(missing.probeFailures[0]).toMatchObject({ field: "expected_answer", value: "nothing" });
    expect(rare.probeFailures.every(({ field }) => field === "hint")).toBe(true);
  });
});

describe("a scorer that answers everything", () => {
  test.each<[string, Scorer<Fields>]>([
    ["the built-in one", mathFinalLine],
    ["one of one's own", scorer(() => {})],
  ])("is valid: %s", async (_, given) => {
    const report = await validate(given);
    expect(report).toMatchObject({ valid: true, probeFailures: [] });
    // Four fields: id, prompt, expected_answer, hint.
    expect(report.probes.example_field % 4).toBe(0);
    expect(Math.min(...Object.values(report.probes))).toBeGreaterThan(0);
  });
});

test("errors are counted apart: golden rows, completions, fields", async () => {
  const careless = scorer(({ expected_answer }, completion) => {
    refuse(completion === "Final: 4" || completion === null || completion === 1);
    refuse(expected_answer === null);
  });
  const report = await validate(careless);
  const written = validationReport(report, {
    ...{ name: "probed", version: "1", spec: "", source_sha256: "0".repeat(64), path: null },
  });
  expect(written).toMatchObject({
    valid: false,
    counts: { agrees: 1, false_positive: 0, false_negative: 0, scorer_error: 1 },
    probes: { completion: { failed: 2 }, determinism: { tried: 2, failed: 0 } },
  });
  // Row b throws for its completion whatever its field `hint` is.
  const fields = report.probeFailures.filter(({ probe }) => probe === "example_field");
  expect(fields.filter(({ field }) => field !== "hint").map(({ value }) => value)).toEqual([
    "null",
  ]);
  expect(written.probes.example_field.failed).toBe(fields.length);
});
