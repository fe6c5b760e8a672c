import { expect, test } from "vitest";
import { progressLine } from "./token-progress.ts";

test("answers done, tokens a second of this sitting, and the time that is left", () => {
  const line = progressLine({ total: 100, kept: 50, added: 25, tokens: 500 }, 10);
  expect(line).toMatch(/ 75 of 100, 50 tokens\/s, 10 s left$/);
  expect(line.length).toBeLessThan(70);
});

test("before the first answer there is no speed", () => {
  expect(progressLine({ total: 8, kept: 2, added: 0, tokens: 0 }, 0)).toMatch(/ 2 of 8$/);
});
