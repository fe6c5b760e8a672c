import { describe, expect, test } from "vitest";
import { readGrader } from "./grader-schema.ts";
import { readGraderFile } from "./settings.ts";

const CHECK = {
  ...{ type: "string_check", name: "exact", operation: "eq" },
  ...{ input: "{{sample.output_text}}", reference: "{{item.answer}}" },
};
const NEAR = { ...CHECK, type: "text_similarity", name: "near", evaluation_metric: "rouge_l" };
const { operation: _, ...SIMILARITY } = NEAR;

/** As the API's documentation and guides show them, with our own names and texts. */
const PUBLISHED = [
  CHECK,
  { ...CHECK, pass_threshold: 0.5 },
  SIMILARITY,
  {
    ...{ type: "score_model", name: "judge", model: "o3-mini", range: [0, 1] },
    input: [
      { role: "developer", content: "Rate 0..1." },
      { role: "user", content: { type: "input_text", text: "Got {{sample.output_text}}" } },
    ],
    sampling_params: { seed: 7, top_p: 1, max_completions_tokens: 2000, reasoning_effort: "low" },
  },
  {
    ...{ type: "label_model", name: "tone", model: "gpt-4.1" },
    input: [{ role: "user", content: "{{sample.output_text}}" }],
    ...{ labels: ["good", "bad"], passing_labels: ["good"] },
  },
  {
    ...{ type: "python", name: "near", image_tag: "2025-05-08" },
    source: "def grade(sample, item):\n    return 1.0",
  },
  { type: "endpoint", url: "https://example.com/grade", headers: { "x-key": "k" }, rate_limit: 5 },
  {
    ...{ type: "multi", name: "mix", calculate_output: "0.7*exact + 0.3*near" },
    graders: { exact: CHECK, near: SIMILARITY },
  },
];

test.each(PUBLISHED.map((grader) => [grader.type, grader]))("%s is read", (_, grader) => {
  expect(readGrader(grader, "g.json")).toEqual(grader);
});

describe("what is refused, with the field and the reason", () => {
  const { reference: __, ...incomplete } = CHECK;
  test.each<[string, unknown, RegExp]>([
    ["a list", [], /g\.json: a grader is a JSON object/],
    ["no type", {}, /type is undefined, which is no type of grader/],
    ["a type of JavaScript", { type: "constructor" }, /type is "constructor"/],
    ["__proto__ as a type", { type: "__proto__" }, /type is "__proto__"/],
    ["a field too many", { ...CHECK, case: 1 }, /a string_check grader has no field "case"/],
    ["a field too few", incomplete, /reference is missing/],
    ["the misprint neq", { ...CHECK, operation: "neq" }, /operation is "neq", not one of eq, ne/],
    ["a metric", { ...SIMILARITY, evaluation_metric: "cosine" }, /evaluation_metric is "cosine"/],
    ["a hidden name", { ...CHECK, name: "\u202e" }, /name: must be visible text/],
    [
      "256 kB of source",
      { type: "python", name: "p", source: "#".repeat(256 * 1024) },
      /source: must be smaller than 256 kB/,
    ],
    ["another protocol", { type: "endpoint", url: "file:///etc/passwd" }, /url: /],
    [
      "a multi in a multi",
      { ...PUBLISHED.at(-1), graders: { inner: PUBLISHED.at(-1) } },
      /graders\.inner: a multi grader cannot hold another one/,
    ],
    ["no graders", { ...PUBLISHED.at(-1), graders: {} }, /graders must be an object/],
    [
      "a fault in one of several",
      { ...PUBLISHED.at(-1), graders: { exact: { ...CHECK, operation: "is" } } },
      /graders\.exact: operation is "is"/,
    ],
    [
      "a name that is no variable",
      { ...PUBLISHED.at(-1), graders: { "a-b": CHECK } },
      /"a-b" cannot be a variable/,
    ],
    [
      "__proto__ as a name",
      JSON.parse(JSON.stringify(PUBLISHED.at(-1)).replace('"near":', '"__proto__":')),
      /"__proto__" cannot be a variable/,
    ],
  ])("%s", (_, grader, message) => {
    expect(() => readGrader(grader, "g.json")).toThrow(message);
  });

  test("the hint for neq names the right word", () => {
    expect(() => readGrader({ ...CHECK, operation: "neq" }, "g")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Write "ne"') }),
    );
  });
});

describe("a file with settings", () => {
  test("is a grader and what the documentation leaves open", () => {
    const settings = { fuzzy_match: "WRatio", azure_errors: true };
    expect(readGraderFile({ grader: CHECK, settings }, "g").settings).toEqual({
      ...{ fuzzy_match: "WRatio", bleu: "nltk", log_base: "e" },
      ...{ objects: "canonical_json", azure_errors: true },
      ...{ python_seconds: 120, python_memory_mb: 2048, endpoint_seconds: 600 },
    });
    expect(readGraderFile({ grader: CHECK }, "g").grader).toEqual(CHECK);
  });

  test.each([
    [{ grader: CHECK, settings: { fuzzy: 1 } }, /settings: .*fuzzy/],
    [{ grader: CHECK, settings: { bleu: "mine" } }, /settings: /],
    [{ grader: CHECK, setting: {} }, /"setting" is neither/],
  ])("%j is refused", (value, message) => {
    expect(() => readGraderFile(value, "g")).toThrow(message);
  });
});
