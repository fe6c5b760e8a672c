/** Few sizes, none smaller than what it is for and none much larger. */

import { expect, test } from "vitest";
import {
  roundedActions,
  roundedLength,
  roundedPacks,
  roundedRows,
  roundedTargets,
} from "./graph-sizes.ts";

test("short texts are filled up to sixteen, long ones by a quarter at most", () => {
  const lengths = Array.from({ length: 8192 }, (_, i) => i + 1);
  for (const length of lengths) {
    const given = roundedLength(length);
    expect(given).toBeGreaterThanOrEqual(length);
    expect(given - length).toBeLessThan(Math.max(16, length / 4));
    expect(roundedLength(given)).toBe(given);
  }
  expect([1, 16, 17, 80, 128, 129, 257].map(roundedLength)).toEqual([
    16, 16, 32, 80, 128, 160, 320,
  ]);
  expect(new Set(lengths.map(roundedLength)).size).toBe(32);
});

test("rows are a power of two, and never a single one", () => {
  expect([1, 2, 3, 8, 9, 100].map(roundedRows)).toEqual([2, 2, 4, 8, 16, 128]);
});

test("packs are few as they are, and many in steps of an eighth at most", () => {
  expect([1, 7, 15, 16, 17, 31, 33, 65].map(roundedPacks)).toEqual([1, 7, 15, 16, 18, 32, 36, 72]);
});

test("targets are eighths of all tokens, or all of them and one to spare", () => {
  const targets = [1, 16, 17, 100, 128, 129];
  expect(targets.map((count) => roundedTargets(count, 128))).toEqual([16, 16, 32, 112, 128, 129]);
});

test("learned tokens of a row come in eights", () => {
  expect([1, 8, 9, 33].map(roundedActions)).toEqual([8, 8, 16, 40]);
});
