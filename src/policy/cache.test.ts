/** The decoder's memory: what is written stays where its row and position are, as room is made. */

import { expect, test } from "vitest";
import { Cache } from "./cache.ts";
import { SIZES } from "./initialise.ts";

const architecture = { ...SIZES.nano, vocabulary: 9, layers: 1, keyHeads: 2, headSize: 4 };
const BATCH = 2;

/** Says which array, row, key head, position and number it is. */
const mark = (array: number, row: number, head: number, at: number, k: number) =>
  array * 10_000 + row * 1000 + head * 100 + at * 10 + k;

function filled(length: number): Cache {
  const cache = new Cache(architecture, BATCH, 8);
  const arrays = ["keys0", "values0"].map((name, array) => [
    name,
    Float32Array.from(
      each((row, head) =>
        Array.from({ length }, (_, at) => [0, 1, 2, 3].map((k) => mark(array, row, head, at, k))),
      ),
    ),
  ]);
  cache.fill(Object.fromEntries(arrays), [0, 1], length);
  return cache;
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
  cache.append(Float32Array.from(fresh), [2, 3]);
  cache.widen(8);
  const { keys0, values0 } = cache.arrays;
  expect(cache.places).toBe(8);
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

test("a row that has ended gets nothing, and clearing leaves nothing", () => {
  const cache = filled(2);
  cache.widen(4);
  const before = [...(cache.arrays.keys0 ?? [])];
  cache.append(new Float32Array(2 * 2 * 2 * 4).fill(7), [-1, -1]);
  expect([...(cache.arrays.keys0 ?? [])]).toEqual(before);
  cache.clear();
  expect(Object.values(cache.arrays).every((array) => array.every((x) => x === 0))).toBe(true);
});
