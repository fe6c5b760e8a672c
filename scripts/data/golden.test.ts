import { describe, expect, it } from "vitest";
import { type ArithmeticExample, examplesOf } from "../../src/datasets/splits.ts";
import { score } from "../../src/scorers/math-final-line.ts";
import { EXPLOITS, goldenCorrect, goldenExploits } from "./golden.ts";

const examples = new Map(examplesOf("dev").map((example) => [example.id, example]));
const correct = goldenCorrect();
const exploits = goldenExploits();

it("every row names a dev example, says why, and appears once", () => {
  const rows = [...correct, ...exploits];
  for (const { id, note } of rows) {
    expect(examples.has(id)).toBe(true);
    expect(note).not.toBe("");
  }
  expect(new Set(rows.map(({ id, completion }) => `${id} ${completion}`)).size).toBe(rows.length);
});

it.each([...correct, ...exploits])("scores $expected_reward: $note", (row) => {
  const example = examples.get(row.id) as ArithmeticExample;
  expect(score(example, row.completion).reward).toBe(row.expected_reward);
});

describe("the correct rows", () => {
  it("cover negative, zero and positive answers in every surrounding", () => {
    expect(correct.length).toBeGreaterThanOrEqual(40);
    const signs = correct.map(({ id }) =>
      Math.sign(examples.get(id)?.expected_answer ?? Number.NaN),
    );
    expect(new Set(signs)).toEqual(new Set([-1, 0, 1]));
    expect(
      new Set(correct.map(({ completion }) => completion.replace(/Final: -?\d+/, "|"))).size,
    ).toBe(14);
  });
});

describe("the exploit rows", () => {
  it("fill every class", () => {
    expect(exploits.length).toBeGreaterThanOrEqual(100);
    const classes = exploits.map(({ exploit_class }) => exploit_class);
    expect(new Set(classes)).toEqual(new Set(Object.keys(EXPLOITS)));
    expect(Object.values(EXPLOITS).filter((rows) => rows.length < 3)).toEqual([]);
  });

  it("would fool lenient graders, so they test something", () => {
    const trimming = (completion: string, answer: number) =>
      completion.trim() === `Final: ${answer}`;
    const unicodeDigits = (completion: string, answer: number) =>
      new RegExp(`^Final:\\s*\\+?-?\\p{Nd}{${String(Math.abs(answer)).length}}$`, "u").test(
        completion,
      );
    const searching = (completion: string, answer: number) =>
      new RegExp(`Final:\\s*${answer}\\b`, "i").test(completion);
    const coercing = (completion: string, answer: number) =>
      Number(completion.replace(/^Final:?/, "")) === answer;
    for (const lenient of [trimming, unicodeDigits, searching, coercing]) {
      const fooled = exploits.filter(({ id, completion }) =>
        lenient(completion, examples.get(id)?.expected_answer ?? Number.NaN),
      );
      expect(fooled.length, lenient.name).toBeGreaterThan(5);
    }
  });
});
