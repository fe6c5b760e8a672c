/** The decoder's memory: what is written stays where its row and position are, as room is made. */

import { expect, test } from "vitest";
import { Cache, type KeysAndValues, pairsOf } from "./cache.ts";
import { SIZES } from "./initialise.ts";

const architecture = { ...SIZES.nano, vocabulary: 9, layers: 1, keyHeads: 2, headSize: 4 };
const BATCH = 2;

/** Says which array, row, key head, position and number it is. */
const mark = (array: number, row: number, head: number, at: number, k: number) =>
  array * 10_000 + row * 1000 + head * 100 + at * 10 + k;

function filled(length: number): Cache {
  const cache = new Cache(architecture, BATCH, 8);
  cache.begin(BATCH);
  cache.widen(length);
  for (const row of [0, 1]) cache.put(row, textOf(row, length));
  return cache;
}

function textOf(row: number, length: number): KeysAndValues {
  const byHead = [0, 1].map((array) =>
    [0, 1].map((head) =>
      Float32Array.from({ length: length * 4 }, (_, i) =>
        mark(array, row, head, Math.floor(i / 4), i % 4),
      ),
    ),
  );
  return { length, byHead };
}

function each(numbers: (row: number, head: number) => number[][]): number[] {
  return [0, 1].flatMap((row) => [0, 1].flatMap((head) => numbers(row, head).flat()));
}

test("positions keep their numbers as room is made, and new ones go to each row's own place", () => {
  const cache = filled(2);
  cache.widen(5);
  const fresh = [0, 1].flatMap((array) =>
    each((row, head) => [[0, 1, 2, 3].map((k) => mark(array, row, head, 2 + row, k))]),
  );
  cache.append(pairsOf(Float32Array.from(fresh)), [2, 3]);
  cache.widen(8);
  const { keys0, values0 } = cache.arrays;
  expect(cache.room).toBe(8);
  for (const [array, kept] of [keys0, values0].entries()) {
    for (const row of [0, 1]) {
      for (const head of [0, 1]) {
        const start = (row * 2 + head) * 8 * 4;
        const seen = row === 0 ? [0, 1, 2] : [0, 1, 3];
        for (const at of seen) {
          const there = [...(kept?.subarray(start + at * 4, start + at * 4 + 4) ?? [])];
          expect(there).toEqual([0, 1, 2, 3].map((k) => mark(array, row, head, at, k)));
        }
      }
    }
  }
});

test("an empty place gets nothing", () => {
  const cache = filled(2);
  cache.widen(4);
  const before = [...(cache.arrays.keys0 ?? [])];
  cache.append(pairsOf(new Float32Array(2 * 2 * 2 * 4).fill(7)), [-1, -1]);
  expect([...(cache.arrays.keys0 ?? [])]).toEqual(before);
});

test("a new text leaves nothing of the one before it, and rows keep their numbers as they move", () => {
  const cache = filled(2);
  cache.widen(4);
  cache.append(pairsOf(new Float32Array(2 * 2 * 2 * 4).fill(Number.NaN)), [3, -1]);
  const second = rowOf(cache, 1);
  cache.put(0, textOf(0, 1));
  expect(rowOf(cache, 0)).toEqual(
    [0, 1].flatMap((head) => [...[0, 1, 2, 3].map((k) => mark(0, 0, head, 0, k)), ...zeros(12)]),
  );
  expect(rowOf(cache, 1)).toEqual(second);
  cache.move(1, 0);
  cache.rows = 1;
  expect([...(cache.arrays.keys0 ?? [])]).toEqual(second);
});

function rowOf(cache: Cache, row: number): number[] {
  const size = 2 * cache.room * 4;
  return [...(cache.arrays.keys0?.subarray(row * size, (row + 1) * size) ?? [])];
}

const zeros = (count: number) => Array(count).fill(0);
