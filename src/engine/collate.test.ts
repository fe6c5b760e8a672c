/** Rows in the arrays of a graph: what stands where, cell by cell. */

import { describe, expect, test } from "vitest";
import { actionCount, completionRow } from "../core/token-row.ts";
import { packRows } from "../policy/packing.ts";
import { batchShape, type CollateOptions, collate, type Feeds } from "./collate.ts";
import type { TrainingRow } from "./loss.ts";

/** A prompt of two tokens with a completion of three, and a prompt of three with a completion of one. */
const ROWS: readonly TrainingRow[] = [
  { tokens: [11, 12, 21, 22, 23], actions: [[2, 5]], columns: { old: [0.1, 0.2, 0.3], good: 1 } },
  { tokens: [11, 12, 13, 31], actions: [[3, 4]], columns: { old: Float32Array.of(0.5), good: -1 } },
];
const OPTIONS: CollateOptions = {
  ...{ reduction: "sequences", maxTokens: 6, microBatchSize: null },
  columns: { old: "token", good: "row" },
};

/** Rows packed and collated. */
function batch(rows: readonly TrainingRow[], options: Partial<CollateOptions> = {}) {
  const all = { ...OPTIONS, ...options };
  const packing = packRows(rows, {
    ...{ attentionLength: 64, mostRows: all.microBatchSize ?? undefined },
  });
  const shape = batchShape(rows, packing, all.maxTokens);
  return { packing, shape, parts: collate(rows, packing, shape, all).map((made) => made()) };
}

const numbers = (feeds: Feeds | undefined, name: string): number[] =>
  Array.from((feeds?.[name] ?? []) as ArrayLike<number | bigint>, Number);

/** A fed array as rows of plain numbers, to two digits. */
function table(feeds: Feeds | undefined, name: string, width = 8): number[][] {
  const flat = numbers(feeds, name).map((x) => Math.round(x * 100) / 100);
  return Array.from({ length: flat.length / width }, (_, r) =>
    flat.slice(r * width, (r + 1) * width),
  );
}

/** What the learned cells of each row ask for: the token that is read last, and the next one. */
function asked(feeds: Feeds | undefined, width = 8): [read: number, next: number][][] {
  const of = (name: string) => numbers(feeds, name);
  const [cells, predicting, tokens, targets] = [
    ...[of("cells"), of("predicting"), of("tokens"), of("targets")],
  ] as [number[], number[], number[], number[]];
  return table(feeds, "mask", width).map((mask, r) =>
    mask.flatMap((on, j): [number, number][] => {
      const target = cells[r * width + j] as number;
      const read = tokens[predicting[target] as number] as number;
      return on === 1 ? [[read, targets[target] as number]] : [];
    }),
  );
}

describe("a batch in one part", () => {
  const { parts, shape } = batch(ROWS);
  const [feeds] = parts;

  test("a learned token is asked for where the token before it is read", () => {
    expect(parts).toHaveLength(1);
    expect(shape).toMatchObject({ rows: 2, actions: 8 });
    expect(asked(feeds)).toEqual([
      [
        [12, 21],
        [21, 22],
        [22, 23],
      ],
      [[13, 31]],
    ]);
  });

  test("a row's learned tokens come first, and there the mask is 1", () => {
    expect(table(feeds, "mask")).toEqual([
      [1, 1, 1, 0, 0, 0, 0, 0],
      [1, 0, 0, 0, 0, 0, 0, 0],
    ]);
  });

  test("a token's column stands in the cell that asks for that token", () => {
    expect(table(feeds, "old")).toEqual([
      [0.1, 0.2, 0.3, 0, 0, 0, 0, 0],
      [0.5, 0, 0, 0, 0, 0, 0, 0],
    ]);
  });

  test("a row's column has one number for each row, and rows weigh 1 / rows", () => {
    expect(table(feeds, "good", 2)).toEqual([[1, -1]]);
    expect(table(feeds, "row_weights", 2)).toEqual([[0.5, 0.5]]);
  });

  test("weights are the reduction's under the mask and 0 elsewhere", () => {
    expect(table(feeds, "weights")).toEqual([
      [0.5, 0.5, 0.5, 0, 0, 0, 0, 0],
      [0.5, 0, 0, 0, 0, 0, 0, 0],
    ]);
    const [grpo] = batch(ROWS, { reduction: "grpo" }).parts;
    expect(table(grpo, "weights")).toEqual([
      [0.17, 0.17, 0.17, 0, 0, 0, 0, 0],
      [0.5, 0, 0, 0, 0, 0, 0, 0],
    ]);
    const [drGrpo] = batch(ROWS, { reduction: "dr_grpo" }).parts;
    expect(drGrpo?.weights?.[1]).toBeCloseTo(1 / 12, 6);
  });

  test("learned tokens are the completion's", () => {
    expect(ROWS.map(actionCount)).toEqual([3, 1]);
  });

  test("cells and targets lead to each other where a token is learned, else to one to spare", () => {
    const [cells, back] = [numbers(feeds, "cells"), numbers(feeds, "cells_back")];
    const mask = numbers(feeds, "mask");
    const learned = cells.filter((_, cell) => mask[cell] === 1);
    expect(new Set(learned).size).toBe(4);
    for (const [cell, target] of cells.entries()) {
      if (mask[cell] === 1) expect(back[target]).toBe(cell);
      else expect(learned).not.toContain(target);
    }
    for (const [target, cell] of back.entries()) {
      if (!learned.includes(target)) expect(mask[cell]).toBe(0);
    }
  });

  test.each([
    [7, 8],
    [8, 16],
  ])("of %i learned tokens a row has a cell to spare among %i", (count, actions) => {
    const own = Array.from({ length: count }, (_, i) => i + 2);
    const row = { ...completionRow([1], own), columns: { old: own, good: 0 } };
    const full = batch([row], { maxTokens: 4 });
    expect(full.shape.actions).toBe(actions);
    expect(full.shape.targets).toBeGreaterThan(count);
    const [part] = full.parts;
    expect(asked(part, actions)[0]?.map(([, next]) => next)).toEqual(own);
    expect(table(part, "old", actions)[0]?.slice(0, count)).toEqual(own);
  });
});

test("what only fills up is 0 everywhere: mask, weights, columns", () => {
  const three = [...ROWS, { ...(ROWS[1] as TrainingRow), tokens: [11, 12, 13, 32] }];
  const { shape, parts } = batch(three);
  expect(shape.rows).toBe(4);
  const [feeds] = parts;
  for (const name of ["mask", "weights", "old"]) {
    expect(table(feeds, name)).toHaveLength(4);
    expect(table(feeds, name)[3]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(table(feeds, name)[2]?.[0]).toBeGreaterThan(0);
  }
  expect(numbers(feeds, "row_weights")).toEqual([1 / 3, 1 / 3, 1 / 3, 0].map(Math.fround));
  expect(numbers(feeds, "good")[3]).toBe(0);
});

describe("a batch in parts", () => {
  /** Prompts that differ, each too long for two rows in a pack; 3, 1 and 3 tokens are learned. */
  const three = [3, 1, 3].map((count, r): TrainingRow => {
    const prompt = Array.from({ length: 14 }, (_, i) => 20 * r + i);
    const own = Array.from({ length: count }, (_, i) => 100 + 10 * r + i);
    return {
      ...completionRow(prompt, own),
      columns: { old: own.map((x) => x / 100), good: r + 1 },
    };
  });
  const sum = (data: ArrayLike<number | bigint> = []) =>
    Array.from(data, Number).reduce((total, x) => total + x, 0);
  /** The weight of each row's first token, by the order of the rows. */
  const weights = (options: Partial<CollateOptions>) => {
    const found: number[] = [];
    for (const part of batch(three, { microBatchSize: 2, ...options }).parts) {
      for (const [r, good] of numbers(part, "good").entries()) {
        if (good > 0) found[good - 1] = Number(part.weights?.[r * 8]);
      }
    }
    return found;
  };

  test("every row is in one of them, with all that belongs to it", () => {
    const { parts } = batch(three, { microBatchSize: 2 });
    expect(parts).toHaveLength(2);
    const seen: number[] = [];
    for (const part of parts) {
      for (const [r, good] of numbers(part, "good").entries()) {
        const tokens = asked(part)[r] ?? [];
        const row = three[good - 1];
        if (row) seen.push(good);
        const own = row?.tokens.slice(14) ?? [];
        expect(tokens.map(([, next]) => next)).toEqual(own);
        expect(table(part, "old")[r]?.slice(0, own.length)).toEqual(own.map((x) => x / 100));
      }
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  });

  test("all have the same sizes", () => {
    const { parts } = batch(three, { microBatchSize: 2 });
    const sizes = parts.map((part) =>
      Object.entries(part).map(([name, data]) => [name, data.length]),
    );
    expect(sizes[1]).toEqual(sizes[0]);
  });

  test("weighs rows by the whole batch: they add up to 1 over the parts", () => {
    const { parts } = batch(three, { microBatchSize: 2 });
    const of = parts.map((part) => sum(part.row_weights)).toSorted((a, b) => a - b);
    expect(of).toEqual([expect.closeTo(1 / 3, 6), expect.closeTo(2 / 3, 6)]);
  });

  test.each(["dapo", "grpo", "bnpo"] as const)("%s adds up to 1 over the parts", (reduction) => {
    const { parts } = batch(three, { microBatchSize: 2, reduction });
    expect(parts.reduce((total, part) => total + sum(part.weights), 0)).toBeCloseTo(1, 6);
  });

  test("dapo weighs a token alike in any part; bnpo goes by the micro-batch, however rows are packed", () => {
    const near = (list: readonly number[]) => list.map((x) => expect.closeTo(x, 6));
    expect(weights({ reduction: "dapo" })).toEqual(near([1 / 7, 1 / 7, 1 / 7]));
    expect(weights({ reduction: "bnpo" })).toEqual(near([1 / 8, 1 / 8, 1 / 6]));
    expect(weights({ reduction: "bnpo", microBatchSize: null })).toEqual(
      near([1 / 7, 1 / 7, 1 / 7]),
    );
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
  const [feeds] = batch([row], { reduction: "dapo" }).parts;
  expect(asked(feeds)[0]).toEqual([
    [2, 3],
    [3, 4],
    [5, 6],
    [6, 7],
  ]);
  expect(table(feeds, "mask")[0]).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
  expect(table(feeds, "weights")[0]).toEqual([0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0]);
  expect(table(feeds, "old")[0]).toEqual([0.1, 0.2, 0.3, 0.4, 0, 0, 0, 0]);
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
    expect(() => batch(row(columns))).toThrow(message);
  });
});
