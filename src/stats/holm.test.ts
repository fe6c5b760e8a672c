import { expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import { holmAdjusted } from "./holm.ts";

/** The step-down procedure as Holm wrote it: reject the smallest while it is at most alpha / left. */
function rejected(pValues: readonly number[], alpha: number): boolean[] {
  const left = new Set(pValues.keys());
  while (left.size > 0) {
    const smallest = Math.min(...[...left].map((i) => pValues[i] as number));
    if (smallest > alpha / left.size) break;
    left.delete([...left].find((i) => pValues[i] === smallest) as number);
  }
  return pValues.map((_, i) => !left.has(i));
}

it("rejects at every level what the step-down procedure rejects", () => {
  for (let time = 0; time < 200; time++) {
    const rng = rngAt("holm", time);
    const pValues = Array.from({ length: 1 + rng.below(8) }, () => rng.next() ** 3);
    const adjusted = holmAdjusted(pValues);
    for (const alpha of [0.01, 0.05, 0.2, 0.5])
      expect(adjusted.map((p) => p <= alpha)).toEqual(rejected(pValues, alpha));
  }
});

it("multiplies by the number of tests that are left, and stays in order", () => {
  // By hand: 4 × 0.005, 3 × 0.01, then 2 × 0.03 and 0.04, which may not be smaller than 0.06.
  const expected = [0.03, 0.06, 0.06, 0.02];
  holmAdjusted([0.01, 0.04, 0.03, 0.005]).forEach((p, i) => {
    expect(p).toBeCloseTo(expected[i] as number, 12);
  });
  expect(holmAdjusted([0.9, 0.8])).toEqual([1, 1]);
  expect(holmAdjusted([])).toEqual([]);
});

it("refuses what is no probability", () => {
  expect(() => holmAdjusted([0.1, 1.1])).toThrow(RangeError);
});
