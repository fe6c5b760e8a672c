import { expect, test } from "vitest";
import { plainSample, sampleOf } from "./sample.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

test("JSON that is nested too deeply to be written again is text, and other JSON is JSON", () => {
  expect(sampleOf('{"a":[1,{"b":null}]}').output_json()).toEqual({ a: [1, { b: null }] });
  expect(sampleOf(nested(100)).output_json()).toBeDefined();
  for (const text of [nested(10_000), "{", ""]) {
    const sample = sampleOf(text);
    expect(sample.output_json()).toBeUndefined();
    expect(JSON.parse(JSON.stringify(plainSample(sample)))).toMatchObject({ output_text: text });
  }
});
