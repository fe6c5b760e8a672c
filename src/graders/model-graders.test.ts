import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readGrader } from "./grader-schema.ts";
import { chat, endAll, ends, graded, json, judgeAt, KEY, serve } from "./grader-server.contract.ts";
import { openGrader, toGraderScorer } from "./open-grader.ts";
import { isFault } from "./opened.ts";
import { settingsSchema } from "./settings.ts";

afterEach(endAll);

const SCORE = {
  type: "score_model",
  name: "judge",
  model: "o3-mini",
  range: [0, 10],
  input: [
    { role: "developer", content: "Rate." },
    { role: "user", content: "Ref {{item.answer}} Got {{sample.output_text}}" },
  ],
  sampling_params: { seed: 7, max_completions_tokens: 2000, reasoning_effort: "low" },
};
const LABEL = {
  ...{ type: "label_model", name: "tone", model: "m", input: SCORE.input },
  ...{ labels: ["polite", "rude"], passing_labels: ["polite"] },
};

describe("score_model", () => {
  test("asks for a result with steps, and clamps it to the range", async () => {
    const { url, seen } = await serve((_, response, call) =>
      chat(response, { content: `{"steps": [], "result": ${call === 1 ? 4 : 25}}` }),
    );
    judgeAt(url);
    expect(await graded(SCORE, "{{item.answer}}")).toMatchObject({ reward: 4, code: "partial" });
    expect(await graded(SCORE)).toMatchObject({
      reward: 10,
      code: "full",
      details: { result: 25 },
    });
    const { body, headers } = seen[0] as (typeof seen)[0];
    expect(body).toMatchObject({
      ...{ model: "o3-mini", seed: 7, max_completion_tokens: 2000, reasoning_effort: "low" },
      messages: [
        { role: "system", content: "Rate." },
        { role: "user", content: "Ref 42 Got {{item.answer}}" },
        { role: "system", content: expect.stringContaining("from 0 to 10") },
      ],
    });
    expect(Object.keys(body)).not.toContain("temperature");
    expect(body.response_format).toMatchObject({
      json_schema: { schema: { required: ["steps", "result"] } },
    });
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test.each([
    ["a refusal", { content: null, refusal: "I cannot." }, "model_grader_refusal_error"],
    ["words", { content: "Quite good." }, "model_grader_parse_error"],
    ["a text as result", { content: '{"result": "8"}' }, "model_grader_parse_error"],
    ["no result", { content: '{"steps": []}' }, "model_grader_parse_error"],
  ])("%s is an error with its flag, and never 0", async (_, message, flag) => {
    const { url } = await serve((_body, response) => chat(response, message));
    judgeAt(url);
    expect(await graded(SCORE)).toMatchObject({ flag, blame: "grader" });
  });

  test("a server that fails is asked again, and then it is an error without the key", async () => {
    const { url, seen } = await serve((_, response) =>
      json(response, { error: { message: `broken ${KEY}` } }, 500),
    );
    judgeAt(url);
    const given = await graded(SCORE);
    expect(given).toMatchObject({ flag: "model_grader_server_error" });
    expect(isFault(given) && given.message).not.toContain(KEY);
    expect(seen).toHaveLength(2);
  });

  test("with azure_errors an answer without a number scores 0", async () => {
    const { url } = await serve((_, response) => chat(response, { content: "Quite good." }));
    judgeAt(url);
    const grader = readGrader(SCORE, "g.json");
    const settings = { ...settingsSchema.parse({}), azure_errors: true };
    const scorer = toGraderScorer({ grader, settings }, await openGrader(grader, settings, "g"));
    expect(await scorer.score({ id: "a", prompt: "", answer: "42" } as never, "x")).toMatchObject({
      ...{ reward: 0, code: "error_as_zero" },
      details: { errors: { model_grader_parse_error: true } },
    });
    await expect(async () => {
      const strict = { ...settings, azure_errors: false };
      const opened = await openGrader(grader, strict, "g");
      return toGraderScorer({ grader, settings: strict }, opened).score(
        { id: "a", prompt: "", answer: "42" } as never,
        "x",
      );
    }).rejects.toThrow(/not a JSON object/);
  });

  test("an answer comes from the cache the second time", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "grader-cache-"));
    ends.push(() => rmSync(folder, { recursive: true }));
    const { url, seen } = await serve((_, response, call) =>
      chat(response, { content: `{"result": ${call}}` }),
    );
    judgeAt(url, folder);
    expect(await graded(SCORE)).toMatchObject({ reward: 1 });
    expect(await graded(SCORE)).toMatchObject({ reward: 1 });
    expect(await graded(SCORE, "another")).toMatchObject({ reward: 2 });
    expect(seen).toHaveLength(2);
  });
});

describe("label_model", () => {
  test.each([
    ["polite", { reward: 1, code: "match" }],
    ["rude", { reward: 0, code: "no_match" }],
    ["neither", { flag: "model_grader_parse_error" }],
  ])("the label %s", async (label, expected) => {
    const { url } = await serve((_, response) =>
      chat(response, {
        content: `\`\`\`json\n${JSON.stringify({ steps: [], result: label })}\n\`\`\``,
      }),
    );
    judgeAt(url);
    expect(await graded(LABEL)).toMatchObject(expected);
  });

  test("a passing label that is no label is refused", async () => {
    judgeAt("http://127.0.0.1:9");
    await expect(graded({ ...LABEL, passing_labels: ["kind"] })).rejects.toThrow(
      /"kind" is not one/,
    );
  });
});
