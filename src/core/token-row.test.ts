import { describe, expect, test } from "vitest";
import { actionCount, actionIndices, completionRow, promptLength } from "./token-row.ts";

describe("a prompt with a completion", () => {
  test("is a row with one span: everything after the prompt", () => {
    const row = completionRow([1, 5, 6], [7, 2]);
    expect(row).toEqual({ tokens: [1, 5, 6, 7, 2], actions: [[3, 5]] });
    expect([actionCount(row), promptLength(row), [...actionIndices(row)]]).toEqual([2, 3, [3, 4]]);
  });

  test("may be without a completion", () => {
    const row = completionRow([1, 5], []);
    expect([actionCount(row), promptLength(row), [...actionIndices(row)]]).toEqual([0, 2, []]);
  });
});

test("several turns are several spans, and what lies between them was read", () => {
  const row = {
    tokens: [1, 2, 3, 4, 5, 6, 7],
    actions: [
      [2, 4],
      [5, 7],
    ],
  } as const;
  expect([actionCount(row), promptLength(row)]).toEqual([4, 2]);
  expect([...actionIndices(row)]).toEqual([2, 3, 5, 6]);
});

test("a row that was only read has no actions", () => {
  const row = { tokens: [1, 2], actions: [] };
  expect([actionCount(row), promptLength(row)]).toEqual([0, 2]);
});
