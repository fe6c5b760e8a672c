import { expect, test } from "vitest";
import { words, wordsOf } from "./words.ts";

test("words in several scripts", () => {
  expect(wordsOf("It doesn't move: KL = 0.1.")).toEqual(["It", "doesn't", "move", "KL", "0.1"]);
  expect(words("--- ### |")).toBe(0);
  expect(words("")).toBe(0);
});

test("a text without spaces has words too, and a long one as many as its parts", () => {
  const sentence = "方策は報酬を最大化する。";
  expect(words(sentence)).toBeGreaterThan(3);
  expect(words(sentence.repeat(1000))).toBe(1000 * words(sentence));
});

test("30,000 words are counted one by one, in a moment", () => {
  const text = Array.from({ length: 30_000 }, (_, i) => `thought${i}`).join(" ");
  const before = process.memoryUsage().rss;
  const started = performance.now();
  expect(words(text)).toBe(30_000);
  expect(performance.now() - started).toBeLessThan(2000);
  expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
});

test("no window cuts a word or a character in two", () => {
  const text = "🙂 réveil, ".repeat(500);
  expect(wordsOf(text)).toEqual(Array.from({ length: 500 }, () => "réveil"));
});
