/** Graders in the shapes in which evals and jobs are published. */

import { describe, expect, test } from "vitest";
import { combined, readPublished, responseFormatOf } from "./import-published.ts";
import { itemCheck } from "./item-schema.ts";

const TEXTS = { input: "{{ sample.output_text }}", reference: "{{ item.label }}" };
const EXACT = { type: "string_check", name: "Match label", operation: "eq", ...TEXTS };
const NEAR = {
  ...{ type: "text_similarity", name: "near", evaluation_metric: "rouge_l", ...TEXTS },
  pass_threshold: 0.8,
};
const TONE = {
  ...{ type: "label_model", name: "tone", model: "gpt-4.1-mini" },
  input: [
    { role: "developer", content: "Is the reply polite or rude?" },
    {
      role: "user",
      content: { type: "input_text", text: "{{item.text}}: {{sample.output_text}}" },
    },
  ],
  ...{ labels: ["polite", "rude"], passing_labels: ["polite"] },
};
const ITEM_SCHEMA = {
  type: "object",
  properties: { text: { type: "string" }, label: { type: "string", enum: ["hail", "fire"] } },
  required: ["text", "label"],
};
/** As it is sent to create an eval. */
const EVAL = {
  name: "claims",
  data_source_config: {
    ...{ type: "custom", item_schema: ITEM_SCHEMA, include_sample_schema: true },
  },
  testing_criteria: [EXACT, NEAR, TONE],
};
/** As the API gives it back: with ids, nulls, and the schema of item and sample together. */
const RETRIEVED = {
  ...{ object: "eval", id: "eval_67a1", created_at: 1790000000, name: "claims", metadata: {} },
  data_source_config: {
    type: "custom",
    schema: { type: "object", properties: { item: ITEM_SCHEMA, sample: {} }, required: ["item"] },
  },
  testing_criteria: EVAL.testing_criteria.map((one, i) => ({ ...one, id: `${one.name}-${i}` })),
};
const job = (reinforcement: object) => ({
  ...{ model: "o4-mini-2025-04-16", training_file: "file-t1", validation_file: "file-v1" },
  method: { type: "reinforcement", reinforcement },
});
const SCHEMA = { type: "object", properties: { v: { type: "string" } } };
const FORMAT = { name: "reply", strict: true, schema: SCHEMA };

describe("an eval", () => {
  test("sent and retrieved give the same graders, with labels and thresholds as they are", async () => {
    const sent = await readPublished(EVAL, "eval.json");
    expect(sent).toMatchObject({ from: "eval", itemSchema: ITEM_SCHEMA, notes: [] });
    expect(sent.graders).toEqual([EXACT, NEAR, TONE]);
    expect(sent.graders[1]).toMatchObject({ pass_threshold: 0.8 });
    expect(sent.graders[2]).toMatchObject({ passing_labels: ["polite"] });
    expect(await readPublished(RETRIEVED, "eval.json")).toEqual(sent);
  });

  test("a grader that names a field which items lack is refused", async () => {
    const reference = "{{item.lable}}";
    const wrong = { ...EVAL, testing_criteria: [{ ...EXACT, reference }] };
    await expect(readPublished(wrong, "e.json")).rejects.toThrow(
      "e.json: Match label names item.lable, which item_schema does not have",
    );
    const content = "{{item.txt}}";
    const judge = { ...TONE, input: [{ role: "user", content }] };
    const inMessage = { ...EVAL, testing_criteria: [judge] };
    await expect(readPublished(inMessage, "e.json")).rejects.toThrow("item.txt");
    const open = { ...EVAL.data_source_config, item_schema: { type: "object" } };
    const anything = { ...wrong, data_source_config: open };
    expect((await readPublished(anything, "e.json")).graders).toHaveLength(1);
  });

  test("a criterion that is no grader is named by its place", async () => {
    const second = (one: unknown) => ({ ...EVAL, testing_criteria: [EXACT, one] });
    const neq = second({ ...EXACT, operation: "neq" });
    await expect(readPublished(neq, "e.json")).rejects.toThrow("e.json: testing_criteria.1: oper");
    const template = second({ ...EXACT, input: "{{output}}" });
    await expect(readPublished(template, "e.json")).rejects.toThrow("testing_criteria.1: input: ");
    await expect(readPublished(second(7), "e.json")).rejects.toThrow(
      "testing_criteria.1: a grader",
    );
    await expect(readPublished({ testing_criteria: [] }, "e.json")).rejects.toThrow("a list");
    await expect(readPublished({ a: 1 }, "e.json")).rejects.toThrow("holds no graders");
  });

  test("items are checked by the schema, bare and in a member item", () => {
    const check = itemCheck(ITEM_SCHEMA, "e.json");
    const good = { text: "Hail on roof", label: "hail" };
    expect([check(good), check({ item: good })]).toEqual([undefined, undefined]);
    expect(check({ text: "Hail" })).toContain("item.label");
    expect(check({ item: { text: 7, label: "hail" } })).toContain("item.text");
    expect(check({ text: "a", label: "flood" })).toContain("item.label");
  });

  test("combined by a formula or the mean; a name again gets a number", () => {
    const graders = [EXACT, NEAR, EXACT] as unknown as Parameters<typeof combined>[0];
    expect(combined(graders, "mean", "e.json")).toMatchObject({
      ...{ type: "multi", calculate_output: "(Match_label + near + Match_label_2) / 3" },
      graders: { Match_label: EXACT, near: NEAR, Match_label_2: EXACT },
    });
  });
});

describe("a reinforcement job", () => {
  test("flat and nested response_format give the same", async () => {
    const input = "{{sample.output_json.v}}";
    const grader = { ...EXACT, input };
    const nested = { type: "json_schema", json_schema: FORMAT };
    const flat = { type: "json_schema", ...FORMAT };
    const one = await readPublished(job({ grader, response_format: nested }), "j.json");
    expect(one).toEqual({
      ...{ from: "reinforcement job", graders: [grader], responseFormat: nested, notes: [] },
    });
    expect(await readPublished(job({ grader, response_format: flat }), "j.json")).toEqual(one);
    const without = await readPublished(job({ grader, response_format: null }), "j.json");
    expect(without.notes).toEqual([expect.stringContaining("output_json")]);
    expect((await readPublished(job({ grader: EXACT }), "j.json")).notes).toEqual([]);
  });

  test("a response_format of both shapes or of none is refused", () => {
    const both = { type: "json_schema", json_schema: FORMAT, ...FORMAT };
    expect(() => responseFormatOf(both, "j.json")).toThrow("one of them");
    expect(() => responseFormatOf({ type: "xml" }, "j.json")).toThrow("no type");
    expect(() => responseFormatOf({ type: "json_schema" }, "j.json")).toThrow("a name");
    expect(responseFormatOf({ type: "text" }, "j.json")).toEqual({ type: "text" });
  });

  test("another method has no grader", async () => {
    const sft = { model: "m", method: { type: "supervised", supervised: {} } };
    await expect(readPublished(sft, "j.json")).rejects.toThrow("reinforcement.grader is missing");
  });
});

test("one grader, a request of the graders API, and a list", async () => {
  for (const value of [EXACT, { grader: EXACT, item: {}, model_sample: "" }, [EXACT]])
    expect((await readPublished(value, "g.json")).graders).toEqual([EXACT]);
});
