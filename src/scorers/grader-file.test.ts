/** The door: a grader's JSON file in the place of a scorer's. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import { currentCode, loadScorer } from "./load.ts";
import { openScorer } from "./open.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-grader-"));
afterAll(() => rmSync(folder, { recursive: true }));

const GRADER = {
  ...{ type: "string_check", name: "exact", operation: "eq" },
  ...{ input: "{{sample.output_text}}", reference: "{{item.expected_answer}}" },
};

function file(name: string, content: unknown): string {
  const place = path.join(folder, name);
  writeFileSync(place, typeof content === "string" ? content : JSON.stringify(content));
  return place;
}

const identity = async (place: string) => (await loadScorer(place)).identity;

describe("the identity of a grader", () => {
  test("covers its bytes, is found without running it, and holds the JSON", async () => {
    const place = file("a.json", GRADER);
    const found = await identity(place);
    expect(found).toMatchObject({
      ...{ name: "exact", path: place, grader: GRADER },
      code_sha256: sha256(JSON.stringify(GRADER)),
      version: expect.stringMatching(/^\d+\.\d+\.\d+\+[0-9a-f]{8}$/),
    });
    expect(currentCode(found)).toBe(found.code_sha256);
    expect(found.source_sha256).not.toBe(found.code_sha256);
    expect(await identity(file("again.json", GRADER))).toEqual({
      ...found,
      path: expect.stringContaining("again.json"),
    });
  });

  test.each([
    ["another operation", { ...GRADER, operation: "like" }],
    ["another setting", { grader: GRADER, settings: { objects: "python_json" } }],
    ["a space more", `${JSON.stringify(GRADER)} `],
  ])("%s is another instrument", async (_, changed) => {
    const before = await identity(file("before.json", GRADER));
    const after = await identity(file("after.json", changed));
    expect(after.source_sha256).not.toBe(before.source_sha256);
    expect(after.version).not.toBe(before.version);
  });
});

test("it scores as a built-in does: once, and its examples may be tried beforehand", async () => {
  const scorer = await openScorer(file("b.json", GRADER));
  expect(scorer.builtIn).toBe(true);
  const example = { id: "a", prompt: "p", expected_answer: 4 };
  expect(
    await scorer.scoreBatch([
      { example, completion: "4" },
      { example, completion: "5" },
      { example: { id: "b", prompt: "p" }, completion: "5" },
    ]),
  ).toMatchObject([
    { reward: 1, code: "match" },
    { reward: 0, code: "no_match" },
    { reward: null, code: "invalid_example" },
  ]);
});

test("a grader that breaks gives an error row with the API's flag, never a zero", async () => {
  const grader = { type: "multi", name: "m", graders: { a: GRADER }, calculate_output: "1/a" };
  const scorer = await openScorer(file("broken.json", grader));
  const example = { id: "a", prompt: "p", expected_answer: 4 };
  const scored = await scorer.scoreBatch([
    { example, completion: "5" },
    { example, completion: "4" },
  ]);
  expect(scored).toMatchObject([
    {
      ...{ reward: null, code: "scorer_error" },
      details: { message: "/ of 1 and 0 is not a finite number", errors: { other_error: true } },
    },
    { reward: 1, code: "full" },
  ]);
});

describe("a file that is no grader is refused with its name", () => {
  test.each([
    ["nowhere.json", undefined, /there is no scorer .*nowhere\.json/],
    ["text.json", "{", /text\.json is not JSON/],
    ["other.json", { hello: 1 }, /other\.json: type is undefined/],
    [
      "typo.json",
      { ...GRADER, input: "{{item}}" },
      /typo\.json: input: \{\{item\}\} names no field/,
    ],
  ])("%s", async (name, content, message) => {
    const place = content === undefined ? path.join(folder, name) : file(name, content);
    await expect(loadScorer(place)).rejects.toThrow(message);
  });
});
