import { expect, test } from "vitest";
import { runNote } from "../runs/index.ts";
import { failureProblem, isRightKnob, knobHint, readField, readKnob } from "./run-note-check.ts";

const NOTE = runNote({
  loop: "A (evaluation)",
  evidence: ["scorer `s` 1"],
  happened: "pass_rate 0.5",
  examples: ["`a` → `ok`"],
});

test("every field of a fresh note is a placeholder, and is found", () => {
  for (const field of ["knob", "change", "expected", "failure", "repair", "next"] as const) {
    expect(readField(NOTE, field).text, field).toMatch(/^_yours to write/);
  }
  expect(readField(NOTE.replace(/- \*\*Failure.*\n/, ""), "failure").text).toBeUndefined();
});

test("a field goes on to the next one", () => {
  const note = NOTE.replace(
    /(\*\*Next change[^*]*\*\*).*/,
    "$1\n  1. lower lr\n  2. add a baseline",
  );
  expect(readField(note, "next").text).toBe("1. lower lr\n  2. add a baseline");
});

test.each([
  ["environment", "environment"],
  ["Environment (the data set; not the policy)", "environment"],
  ["**measurement instrument**", "measurement"],
  ["selection compute", "selection"],
  ["none", "none"],
  ["policy / environment", undefined],
  ["the weather", undefined],
] as const)("%j picks %s", (text, knob) => {
  expect(readKnob(text)).toBe(knob);
});

test("a pick must be what the gate finds; changed data may be called a changed instrument", () => {
  expect(isRightKnob("environment", ["environment"])).toBe(true);
  expect(isRightKnob("policy", ["environment"])).toBe(false);
  expect(isRightKnob("none", [])).toBe(true);
  expect(isRightKnob("policy", [])).toBe(false);
  expect(isRightKnob("measurement", ["environment"])).toBe(true);
  expect(knobHint("measurement", ["environment"])).toContain("The gate says environment");
  // Not the other way round: a changed scorer is a changed instrument and nothing else.
  expect(isRightKnob("environment", ["measurement"])).toBe(false);
  expect(knobHint("environment", ["environment"])).toBe("");
});

test.each([
  ["model", 96, undefined],
  ["model, spec", 96, undefined],
  ["data (one altered answer)", 0, undefined],
  ["none", 0, undefined],
  ["none", 96, "96 rows failed"],
  ["model, verifier, spec, data", 96, "those that the failing rows show"],
  ["bad luck", 96, "one or two of model, verifier, spec, data"],
])("the failure types %j of a run with %i failing rows", (text, failed, expected) => {
  const problem = failureProblem(text, failed);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem?.expected).toContain(expected);
});
