/** Rows in the arrays of a graph: what stands where, position by position. */

import { describe, expect, test } from "vitest";
import { actionCount, completionRow } from "../core/token-row.ts";
import { collate, type Layout } from "./collate.ts";
import type { TrainingRow } from "./loss.ts";
import type { Feeds } from "./trainer.ts";

/** A prompt of two tokens with a completion of three, and a prompt of three with a completion of one. */
const ROWS: readonly TrainingRow[] = [
  { tokens: [11, 12, 21, 22, 23], actions: [[2, 5]], columns: { old: [0.1, 0.2, 0.3], good: 1 } },
  { tokens: [11, 12, 13, 31], actions: [[3, 4]], columns: { old: Float32Array.of(0.5), good: -1 } },
];
const LAYOUT: Layout = {
  ...{ rows: 2, length: 6, maxTokens: 8, reduction: "sequences" },
  columns: { old: "token", good: "row" },
};

/** A fed array as rows of plain numbers, to two digits. */
function table(feeds: Feeds | undefined, name: string, width = 6): number[][] {
  const data: ArrayLike<number | bigint> = feeds?.[name] ?? [];
  const flat = Array.from(data, (x) => Math.round(Number(x) * 100) / 100);
  return Array.from({ length: flat.length / width }, (_, r) =>
    flat.slice(r * width, (r + 1) * width),
  );
}

describe("a batch in one part", () => {
  const parts = collate(ROWS, LAYOUT);
  const [feeds] = parts;

  test("position i holds token i and is asked for token i + 1", () => {
    expect(parts).toHaveLength(1);
    expect(table(feeds, "tokens")).toEqual([
      [11, 12, 21, 22, 0, 0],
      [11, 12, 13, 0, 0, 0],
    ]);
    expect(table(feeds, "targets")).toEqual([
      [12, 21, 22, 23, 0, 0],
      [12, 13, 31, 0, 0, 0],
    ]);
  });

  test("the mask is 1 exactly where a completion's token is asked for, its last one included", () => {
    expect(table(feeds, "mask")).toEqual([
      [0, 1, 1, 1, 0, 0],
      [0, 0, 1, 0, 0, 0],
    ]);
  });

  test("a token's column stands where that token is asked for: one off would not", () => {
    expect(table(feeds, "old")).toEqual([
      [0, 0.1, 0.2, 0.3, 0, 0],
      [0, 0, 0.5, 0, 0, 0],
    ]);
    // Said once more without the layout: under the mask, column by column, target by target.
    const seen = ROWS.map((_, r) => {
      const at = (name: string) => table(feeds, name)[r] ?? [];
      return at("mask").flatMap((on, i) => (on === 1 ? [[at("targets")[i], at("old")[i]]] : []));
    });
    expect(seen).toEqual([
      [
        [21, 0.1],
        [22, 0.2],
        [23, 0.3],
      ],
      [[31, 0.5]],
    ]);
  });

  test("a row's column has one number for each row, and rows weigh 1 / rows", () => {
    expect(table(feeds, "good", 2)).toEqual([[1, -1]]);
    expect(table(feeds, "row_weights", 2)).toEqual([[0.5, 0.5]]);
  });

  test("weights are the reduction's under the mask and 0 elsewhere", () => {
    expect(table(feeds, "weights")).toEqual([
      [0, 0.5, 0.5, 0.5, 0, 0],
      [0, 0, 0.5, 0, 0, 0],
    ]);
    const [grpo] = collate(ROWS, { ...LAYOUT, reduction: "grpo" });
    expect(table(grpo, "weights")).toEqual([
      [0, 0.17, 0.17, 0.17, 0, 0],
      [0, 0, 0.5, 0, 0, 0],
    ]);
    const [drGrpo] = collate(ROWS, { ...LAYOUT, reduction: "dr_grpo" });
    expect(drGrpo?.weights?.[1]).toBeCloseTo(1 / 16, 6);
  });

  test("learned tokens are the completion's", () => {
    expect(ROWS.map(actionCount)).toEqual([3, 1]);
  });

  test("the longest row that fits has one token more than there are positions", () => {
    const row = { ...completionRow([1], [2, 3, 4]), columns: { old: [7, 8, 9], good: 0 } };
    const [full] = collate([row], { ...LAYOUT, rows: 1, length: 3 });
    expect(table(full, "targets", 3)).toEqual([[2, 3, 4]]);
    expect(table(full, "old", 3)).toEqual([[7, 8, 9]]);
    expect(table(full, "mask", 3)).toEqual([[1, 1, 1]]);
  });
});

test("what only fills up is 0 everywhere: tokens, mask, weights, columns", () => {
  const [feeds] = collate(ROWS, { ...LAYOUT, rows: 4 });
  for (const name of ["tokens", "targets", "mask", "weights", "old"]) {
    expect(table(feeds, name)).toHaveLength(4);
    expect(table(feeds, name).slice(2)).toEqual([
      [0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0],
    ]);
  }
  expect(table(feeds, "row_weights", 4)).toEqual([[0.5, 0.5, 0, 0]]);
  expect(table(feeds, "good", 4)).toEqual([[1, -1, 0, 0]]);
});

describe("a batch in parts", () => {
  const three = [...ROWS, ROWS[0] as TrainingRow];
  const sum = (data: ArrayLike<number | bigint> = []) =>
    Array.from(data, Number).reduce((total, x) => total + x, 0);

  test("keeps the order of the rows, and fills up the last part", () => {
    const parts = collate(three, LAYOUT);
    expect(parts).toHaveLength(2);
    expect(table(parts[1], "targets")).toEqual([
      [12, 21, 22, 23, 0, 0],
      [0, 0, 0, 0, 0, 0],
    ]);
    expect(table(parts[1], "mask")[1]).toEqual([0, 0, 0, 0, 0, 0]);
    for (const part of parts) expect(part.tokens).toHaveLength(12);
  });

  test("weighs rows by the whole batch: they add up to 1 over the parts", () => {
    const parts = collate(three, LAYOUT);
    expect(parts.map((part) => sum(part.row_weights))).toEqual([
      expect.closeTo(2 / 3, 6),
      expect.closeTo(1 / 3, 6),
    ]);
  });

  test.each(["dapo", "grpo", "bnpo"] as const)("%s adds up to 1 over the parts", (reduction) => {
    const parts = collate(three, { ...LAYOUT, reduction });
    expect(parts.reduce((total, part) => total + sum(part.weights), 0)).toBeCloseTo(1, 6);
  });

  test("dapo weighs a token alike in any part; bnpo does not", () => {
    const weightsOf = (reduction: "dapo" | "bnpo") =>
      collate(three, { ...LAYOUT, reduction }).map((part) => Number(part.weights?.[1]));
    expect(weightsOf("dapo")).toEqual([expect.closeTo(1 / 7, 6), expect.closeTo(1 / 7, 6)]);
    expect(weightsOf("bnpo")).toEqual([expect.closeTo(1 / 8, 6), expect.closeTo(1 / 6, 6)]);
  });
});

test("tokens between two turns are read, not learned", () => {
  const row: TrainingRow = {
    ...{
      tokens: [1, 2, 3, 4, 5, 6, 7],
      actions: [
        [2, 4],
        [5, 7],
      ],
    },
    columns: { old: [0.1, 0.2, 0.3, 0.4], good: 1 },
  };
  const [feeds] = collate([row], { ...LAYOUT, rows: 1, length: 8, reduction: "dapo" });
  expect(table(feeds, "mask", 8)).toEqual([[0, 1, 1, 0, 1, 1, 0, 0]]);
  expect(table(feeds, "weights", 8)).toEqual([[0, 0.25, 0.25, 0, 0.25, 0.25, 0, 0]]);
  expect(table(feeds, "old", 8)).toEqual([[0, 0.1, 0.2, 0, 0.3, 0.4, 0, 0]]);
});

describe("a row that does not fit its columns is refused, rather than learned from", () => {
  const row = (columns: TrainingRow["columns"]): readonly TrainingRow[] => [
    { tokens: [11, 12, 21, 22, 23], actions: [[2, 5]], columns },
  ];

  test.each([
    ["a column is missing", { good: 1 }, /no column "old"/],
    ["too few numbers", { good: 1, old: [1, 2] }, /"old"/],
    ["too many numbers", { good: 1, old: [1, 2, 3, 4] }, /"old"/],
    ["one number in place of one for each token", { good: 1, old: 1 }, /"old"/],
    ["a number for each token in place of one", { good: [1, 2, 3], old: [1, 2, 3] }, /"good"/],
  ] as const)("%s", (_, columns, message) => {
    expect(() => collate(row(columns), LAYOUT)).toThrow(message);
  });
});
