import { expect, test } from "vitest";
import {
  commandsNamed,
  images,
  isDrawing,
  isSameText,
  linkTargets,
  listItems,
  sections,
  textProblem,
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

const KEYS = ["scorer", "verifier", "completion"];
const REWARD =
  "The number that the scorer gives to one completion, after it has parsed its text. It says how good this one answer is.";
const none = new Map<string, string>();

test("a text that explains its term is accepted", () => {
  expect(textProblem(REWARD, 15, KEYS, none)).toBeUndefined();
  const metric = "A figure over many rows: the mean of what the verifier gave to each completion.";
  expect(textProblem(metric, 15, KEYS, new Map([["Reward", REWARD]]))).toBeUndefined();
  expect(textProblem(REWARD, 15, [], none)).toBeUndefined();
});

test("a text without meaning is not", () => {
  const filler = (term: string) =>
    `${term} this term means that the number one two three four five six seven eight nine ten`;
  expect(textProblem(filler("Loss"), 15, [], new Map([["Reward", filler("Reward")]]))).toContain(
    'the text of "## Reward"',
  );
  expect(textProblem(filler("Reward"), 15, KEYS, none)).toContain("scorer, verifier, completion");
  const tokens = Array.from({ length: 41 }, (_, i) => `w${i}`).join(" ");
  expect(textProblem(tokens, 40, [], none)).toContain("no words");
  expect(textProblem("scorer verifier ".repeat(20), 15, KEYS, none)).toContain("few words");
});

test("texts are compared by their words", () => {
  expect(isSameText("One wrong row, in the format.", "one WRONG row in the format..")).toBe(true);
  expect(isSameText("one wrong row in the format", "a lost row of the pack")).toBe(false);
});

test("a drawing has a line for each loop, or a block with an arrow", () => {
  expect(isDrawing("Loop A: measurement, Loop B: selection, Loop C: policy", 3)).toBe(false);
  expect(isDrawing("- Loop A: measurement\n- Loop B: selection\n- Loop C: policy", 3)).toBe(true);
  expect(isDrawing("```text\nA measurement -> B selection -> C policy\n```", 3)).toBe(true);
});
