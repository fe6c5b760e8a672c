/** Graders as scorers: what each row gets, and what is nobody's zero. */

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { type ScoreResult, ScorerFailure } from "../core/score.ts";
import { openGrader, toGraderScorer } from "./open-grader.ts";
import { runReply } from "./run-reply.ts";
import { sampleOf } from "./sample.ts";
import { readGraderFile } from "./settings.ts";

const CHECK = {
  ...{ type: "string_check", name: "exact", operation: "eq" },
  ...{ input: "{{sample.output_text}}", reference: "{{item.answer}}" },
};
const JSON_CHECK = { ...CHECK, name: "json", input: "{{sample.output_json.v}}" };
const NEAR = {
  ...{ type: "text_similarity", name: "near", evaluation_metric: "fuzzy_match" },
  ...{ input: "{{sample.output_text}}", reference: "{{item.answer}}" },
};
const multi = (calculate_output: string, graders: object) => ({
  ...{ type: "multi", name: "mix", calculate_output, graders },
});

async function scorerOf(value: unknown) {
  const file = readGraderFile(value, "g.json");
  const { grader, settings } = file;
  return toGraderScorer(file, await openGrader(grader, settings, "g.json"));
}

async function score(value: unknown, fields: JsonObject, completion: string): Promise<ScoreResult> {
  const example = { id: "a", prompt: "p", ...fields } as Example;
  return (await scorerOf(value)).score(example, completion);
}

const ANSWER = { answer: "Straße 42" };

describe("string_check", () => {
  test.each([
    ["eq", "Straße 42", 1],
    ["eq", "Straße 42 ", 0],
    ["eq", "straße 42", 0],
    ["ne", "Straße 42", 0],
    ["ne", "other", 1],
    ["like", "It is Straße 42.", 1],
    ["like", "It is straße 42.", 0],
    ["ilike", "It is STRAßE 42.", 1],
    ["ilike", "It is STRASSE 42.", 0],
  ])("%s of %j gives %d", async (operation, completion, reward) => {
    const found = await score({ ...CHECK, operation }, ANSWER, completion);
    expect(found).toMatchObject({ reward, code: reward === 1 ? "match" : "no_match" });
    expect(found.details).toEqual({ parsed: completion });
  });
});

test("text_similarity gives a share and declares its range", async () => {
  expect((await scorerOf(NEAR)).range).toEqual([0, 1]);
  expect(await score(NEAR, ANSWER, "Straße 42")).toMatchObject({ reward: 1, code: "full" });
  expect(await score(NEAR, ANSWER, "Straße")).toMatchObject({ reward: 0.8, code: "partial" });
  expect(await score(NEAR, ANSWER, "")).toMatchObject({ reward: 0, code: "none" });
});

describe("multi", () => {
  test("calculates with its graders by name", async () => {
    const mix = multi("0.7*exact + 0.3*max(near, 0.1)", { exact: CHECK, near: NEAR });
    expect(await score(mix, ANSWER, "Straße 42")).toMatchObject({ reward: 1, code: "full" });
    expect(await score(mix, ANSWER, "")).toEqual({
      ...{ reward: 0.03, code: "partial" },
      details: { graders: { exact: 0, near: 0 } },
    });
    expect((await scorerOf(mix)).range).toEqual([0, 1]);
  });

  test("a sum of weights that is 1 on paper passes", async () => {
    expect(0.6 + 0.3 + 0.1).toBeLessThan(1);
    const thirds = multi("0.6*a + 0.3*b + 0.1*c", { a: CHECK, b: CHECK, c: CHECK });
    expect((await score(thirds, ANSWER, "Straße 42")).reward).toBe(1);
  });

  test("a part that cannot read the sample counts as 0 and is named", async () => {
    const mix = multi("0.5*a + 0.5*b", { a: CHECK, b: JSON_CHECK });
    expect(await score(mix, ANSWER, "Straße 42")).toEqual({
      ...{ reward: 0.5, code: "partial" },
      details: {
        graders: { a: 1, b: 0 },
        ...{ message: "b: the output is not JSON", errors: { sample_parse_error: true } },
      },
    });
  });

  test("a formula that cannot be read is refused when the grader is opened", async () => {
    await expect(scorerOf(multi("exact + constructor", { exact: CHECK }))).rejects.toThrow(
      /g\.json: calculate_output: "constructor" at character 9 is no grader/,
    );
  });

  test("a fault in a template names the part and the field", async () => {
    const typo = { ...CHECK, input: "{{output}}" };
    await expect(scorerOf(multi("a", { a: typo }))).rejects.toThrow(
      /graders\.a: input: \{\{output/,
    );
  });
});

describe("no grade", () => {
  test("an output that is not JSON scores 0: the sample's fault", async () => {
    for (const completion of ["not json", '{"w":1}', "", "\ud800{", "NaN"]) {
      const { reward, code } = await score(JSON_CHECK, { answer: "1" }, completion);
      expect([completion, reward, code]).toEqual([completion, 0, "unreadable_sample"]);
    }
    expect(await score(JSON_CHECK, { answer: "1" }, '{"v":1}')).toMatchObject({ reward: 1 });
  });

  test("not even `ne` rewards an output that cannot be read", async () => {
    const differs = { ...JSON_CHECK, operation: "ne" };
    expect(await score(differs, { answer: "1" }, "not json")).toMatchObject({ reward: 0 });
    expect(await score(differs, { answer: "1" }, '{"v":2}')).toMatchObject({ reward: 1 });
  });

  test("a field that the item lacks is an invalid example", async () => {
    expect(await score(CHECK, {}, "x")).toEqual({
      ...{ reward: 0, code: "invalid_example" },
      details: {
        message: "the item has no {{item.answer}}",
        errors: { invalid_variable_error: true },
      },
    });
  });

  test("a formula without a number is a broken grader, and a zero only if that is set", async () => {
    const grader = multi("1 / a", { a: CHECK });
    const broken = await score(grader, ANSWER, "wrong").catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(ScorerFailure);
    expect((broken as ScorerFailure).details).toMatchObject({ errors: { other_error: true } });
    const azure = { grader, settings: { azure_errors: true } };
    expect(await score(azure, ANSWER, "wrong")).toMatchObject({
      ...{ reward: 0, code: "error_as_zero" },
      details: { errors: { other_error: true } },
    });
    expect(await score(azure, {}, "wrong")).toMatchObject({ reward: 0, code: "error_as_zero" });
    expect(await score(azure, ANSWER, "Straße 42")).toMatchObject({ reward: 1, code: "full" });
  });

  test("two texts beyond the limit of a metric are an error with the limit", async () => {
    const large = "ab".repeat(60_000);
    await expect(score(NEAR, { answer: `x${large}` }, `${large}y`)).rejects.toThrow(
      "fuzzy_match compares at most 1e10 pairs of characters",
    );
  });

  test("an item that contains a template changes nothing", async () => {
    const sly = { answer: "{{sample.output_text}}" };
    expect(await score(CHECK, sly, "anything")).toMatchObject({ reward: 0 });
    expect(await score(CHECK, sly, "{{sample.output_text}}")).toMatchObject({ reward: 1 });
  });
});

test("the reply of graders/run has the API's shape", async () => {
  const value = multi("a + 0*b", { a: CHECK, b: JSON_CHECK });
  const { grader, settings } = readGraderFile(value, "g");
  const opened = await openGrader(grader, settings, "g");
  const given = await opened.grade({ item: { answer: "x" }, sample: sampleOf("x") });
  expect(runReply(grader, given, 0.004)).toEqual({
    reward: 1,
    metadata: {
      ...{ name: "mix", type: "multi", execution_time: 0.004, scores: {} },
      ...{ token_usage: null, sampled_model_name: null },
      errors: {
        ...{ formula_parse_error: false, sample_parse_error: true },
        ...{ truncated_observation_error: false, unresponsive_reward_error: false },
        ...{ invalid_variable_error: false, other_error: false },
        ...{ python_grader_server_error: false, python_grader_server_error_type: null },
        ...{ python_grader_runtime_error: false, python_grader_runtime_error_details: null },
        ...{ model_grader_server_error: false, model_grader_refusal_error: false },
        ...{ model_grader_parse_error: false, model_grader_server_error_details: null },
      },
    },
    sub_rewards: { a: 1, b: 0 },
    model_grader_token_usage_per_model: {},
  });
});
