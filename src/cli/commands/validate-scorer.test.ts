import { expect, test } from "vitest";
import type { ProbeFailure } from "../../loops/validate.ts";
import { remedies } from "./validate-scorer.ts";

const failure = (probe: ProbeFailure["probe"], field?: string): ProbeFailure => ({
  ...{ probe, value: "null", message: "the scorer threw" },
  ...(field !== undefined && { field }),
  input: { example: { id: "a", prompt: "p" }, completion: "c" },
});

test("the code that is missing is shown for the place where it is missing", () => {
  const completion = remedies([failure("completion")]).join("\n");
  expect(completion).toContain('if (typeof completion !== "string")');
  expect(completion).not.toContain("invalid_example");
  const field = remedies([failure("example_field", "language")]).join("\n");
  expect(field).toContain("typeof example.language !==");
  expect(field).toContain('return { reward: 0, code: "invalid_example", details: {} };');
  expect(field).not.toContain("typeof completion");
  expect(remedies([failure("example_field", "a field")]).join()).toContain('example["a field"]');
});

test("a scorer that only contradicts itself needs no check of its input", () => {
  expect(remedies([failure("determinism")])).toEqual([]);
  expect(remedies([])).toEqual([]);
});
