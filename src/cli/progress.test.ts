import { expect, test } from "vitest";
import { tokenLine } from "./progress.ts";

test("items done, tokens per second of this session, and the time left", () => {
  const line = tokenLine({ total: 100, kept: 50, added: 25, tokens: 500 }, 10);
  expect(line).toMatch(/ 75 of 100, 50 tokens\/s, 10 s left$/);
  expect(line.length).toBeLessThan(70);
});

test("no speed before the first item", () => {
  expect(tokenLine({ total: 8, kept: 2, added: 0, tokens: 0 }, 0)).toMatch(/ 2 of 8$/);
});
