import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { boundedMeanInterval } from "./bounded-mean-interval.ts";

describe("the interval of a bounded mean", () => {
  test("has a width where all values are the same, which falls with their number", () => {
    const width = (n: number) => {
      const [low, high] = boundedMeanInterval(new Array(n).fill(0), [-1, 1]) ?? [0, 0];
      expect(low).toBeCloseTo(-high, 4);
      return high;
    };
    expect(width(20)).toBeGreaterThan(0.15);
    expect(width(160)).toBeLessThan(0.04);
    expect(width(160)).toBeGreaterThan(0.02);
  });

  test.each([
    ["rare large values", (u: number) => (u < 0.03 ? 1 : 0), 0.03],
    ["two values", (u: number) => (u < 0.5 ? -1 : 1), 0],
    ["uniform ones", (u: number) => 2 * u - 1, 0],
    ["skewed ones", (u: number) => u * u, 1 / 3],
  ])("covers the mean of %s in at least 95 %% of samples", (_, value, mean) => {
    let covered = 0;
    const tries = 300;
    for (let i = 0; i < tries; i++) {
      const rng = rngAt("bounded interval", i);
      const values = Array.from({ length: 40 }, () => value(rng.next()));
      const [low, high] = boundedMeanInterval(values, [-1, 1]) ?? [1, -1];
      if (low <= mean && mean <= high) covered++;
    }
    expect(covered / tries).toBeGreaterThanOrEqual(0.95);
  });

  test("refuses values outside the range, and knows nothing without values", () => {
    expect(boundedMeanInterval([], [0, 1])).toBeUndefined();
    expect(() => boundedMeanInterval([0.5, 1.5], [0, 1])).toThrow(/between 0 and 1/);
  });
});
