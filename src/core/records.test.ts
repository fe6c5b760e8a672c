import { expect, test } from "vitest";
import { toCompletion, toExample, toGoldenRow, toSelectionPack } from "./records.ts";

test.each([
  [toExample, {}, '"id" is missing'],
  [toExample, { id: "" }, '"id" must be a non-empty string, found ""'],
  [toExample, { id: 7, prompt: "p" }, '"id" must be a non-empty string, found 7'],
  [toExample, { id: "a" }, '"prompt" is missing'],
  [toCompletion, { id: "a" }, '"completion" is missing'],
  [toCompletion, { id: "a", completion: 22 }, '"completion" must be a string, found 22'],
  [
    toCompletion,
    { id: "a", completion: "x", sum_logprob: "-1" },
    '"sum_logprob" must be a number or null',
  ],
  [
    toCompletion,
    { id: "a", completion: "x", sum_ref_logprob: Number.POSITIVE_INFINITY },
    "sum_ref_logprob",
  ],
  [toSelectionPack, { id: "a", samples: "x" }, '"samples" must be a list'],
  [toSelectionPack, { id: "a", samples: ["x", 3] }, '"samples[1]" must be a string or an object'],
  [toSelectionPack, { id: "a", samples: [{}] }, '"samples[0].completion" is missing'],
  [
    toGoldenRow,
    { id: "a", completion: "x", expected_reward: "1" },
    '"expected_reward" must be a number',
  ],
])("%o refuses %o", (parse, fields, message) => {
  expect(() => (parse as (f: Record<string, unknown>) => unknown)(fields)).toThrow(message);
});

test("extra fields and any expected answer are kept", () => {
  const example = { id: "a", prompt: "p", expected_answer: { any: [1] }, topic: "x" };
  expect(toExample(example)).toEqual(example);
  expect(
    toSelectionPack({ id: "a", samples: ["x", { completion: "y", sum_logprob: null }] }).samples,
  ).toHaveLength(2);
  expect(toGoldenRow({ id: "a", completion: "x", expected_reward: 0 }).note).toBe("");
});
