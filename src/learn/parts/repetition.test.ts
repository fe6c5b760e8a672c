import { expect, test } from "vitest";
import { repetitionOf } from "./repetition.ts";

const row = (text: string, from = 0) => ({
  tokens: [...text].map((character) => character.charCodeAt(0)),
  actions: [[from, text.length] as const],
});

test("a loop repeats its n-grams, ordinary text does not", () => {
  // Five 4-grams: abab, baba, abab, baba, abab.
  expect(repetitionOf(row("abababab"))).toBe(3 / 5);
  expect(repetitionOf(row("aaaaaaaa"))).toBe(4 / 5);
  expect(repetitionOf(row("Final: 12"))).toBe(0);
});

test("too short for an n-gram is no repetition", () => {
  expect(repetitionOf(row(""))).toBe(0);
  expect(repetitionOf(row("aaa"))).toBe(0);
});

test("only the policy's own tokens count, and each turn by itself", () => {
  expect(repetitionOf(row("aaaaaaaaabcd", 8))).toBe(0);
  const turns = { tokens: row("abcdabcd").tokens, actions: [[0, 4] as const, [4, 8] as const] };
  expect(repetitionOf(turns)).toBe(0);
});
