import { expect, test } from "vitest";
import { NO_VALUE, slicesOf } from "./slices.ts";

const sliceBy = (topic?: string | number) =>
  slicesOf({ id: "a", prompt: "p", ...(topic !== undefined && { topic }) }, ["topic"]).topic;

test("an example without the field and one that says (none) are two slices", () => {
  expect(sliceBy(undefined)).toBe(NO_VALUE);
  expect(sliceBy("algebra")).toBe("algebra");
  const values = [undefined, "(none)", '"(none)"', '"', "none", 1].map(sliceBy);
  expect(new Set(values).size).toBe(values.length);
});
