import { expect, test } from "vitest";
import {
  commandsNamed,
  images,
  linkTargets,
  listItems,
  sections,
  wordCount,
  words,
} from "./notes.ts";

test("words in several scripts", () => {
  expect(words("It doesn't move: KL = 0.1.")).toEqual(["It", "doesn't", "move", "KL", "0.1"]);
  expect(wordCount("--- ### |")).toBe(0);
  expect(wordCount("")).toBe(0);
});

test("a text without spaces has words too, and a long one as many as its parts", () => {
  const sentence = "方策は報酬を最大化する。";
  expect(wordCount(sentence)).toBeGreaterThan(3);
  expect(wordCount(sentence.repeat(1000))).toBe(1000 * wordCount(sentence));
});

test("30,000 words are counted one by one, in a moment", () => {
  const text = Array.from({ length: 30_000 }, (_, i) => `thought${i}`).join(" ");
  const before = process.memoryUsage().rss;
  const started = performance.now();
  expect(wordCount(text)).toBe(30_000);
  expect(performance.now() - started).toBeLessThan(2000);
  expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
});

test("no window cuts a word or a character in two", () => {
  const text = "🙂 réveil, ".repeat(500);
  expect(words(text)).toEqual(Array.from({ length: 500 }, () => "réveil"));
});

test("a section reaches to the next heading of its rank", () => {
  const found = sections("# A\na\n## B\nb\n## C\nc\n# D\nd");
  expect(found.map(({ heading }) => heading)).toEqual(["A", "B", "C", "D"]);
  expect(found[0]?.body).toContain("c");
  expect(found[1]?.body).toBe("b");
});

test("link targets are local links and quoted paths; images apart", () => {
  const text = '[a](../../runs/a#top) ![c](c.svg "t") `runs/b` [w](https://example.org/runs/x)';
  expect(linkTargets(text)).toEqual(["../../runs/a", "c.svg", "runs/b"]);
  expect(images(text)).toEqual(["c.svg"]);
});

test("commands are named once, in either spelling", () => {
  const text = "lockedroom eval --x\n./lockedroom inspect_run\nlockedroom eval";
  expect(commandsNamed(text)).toEqual(["eval", "inspect-run"]);
});

test("list items", () => expect(listItems("- a\n* b\n1. c\nd\n- \n")).toBe(3));
