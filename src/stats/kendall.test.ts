import { describe, expect, test } from "vitest";
import { rngAt, shuffled } from "../core/rng.ts";
import { kendallTauB } from "./kendall.ts";

describe("Kendall's tau-b", () => {
  test("is 1 in the same order, -1 in the opposite one, whatever the distances", () => {
    expect(kendallTauB([1, 2, 3], [0.1, 0.11, 9])).toBe(1);
    expect(kendallTauB([1, 2, 3], [5, 4, -3])).toBe(-1);
  });

  test("counts ties by the geometric mean", () => {
    // 4 of 6 pairs agree, 1 is a tie in one list and 1 in the other: 4 / sqrt(5 * 5).
    expect(kendallTauB([1, 1, 2, 3], [1, 2, 3, 3])).toBeCloseTo(0.8, 12);
    // One list has two values only: 4 untied pairs of 6.
    expect(kendallTauB([0, 0, 1, 1], [1, 2, 3, 4])).toBeCloseTo(4 / Math.sqrt(4 * 6), 12);
  });

  test("is undefined where a list orders nothing", () => {
    expect(kendallTauB([1, 1, 1], [1, 2, 3])).toBeUndefined();
    expect(kendallTauB([1, 2], [3, 3])).toBeUndefined();
    expect(kendallTauB([], [])).toBeUndefined();
    expect(() => kendallTauB([1], [1, 2])).toThrow(/cannot be compared/);
  });

  test("is 0 on average for orders that have nothing to do with each other", () => {
    const list = [1, 2, 3, 4, 5, 6];
    let sum = 0;
    for (let i = 0; i < 2000; i++) sum += kendallTauB(list, shuffled(list, rngAt("tau", i))) ?? 9;
    // The variance of tau is 2 (2n + 5) / 9n(n - 1) = 0.126 for six values.
    expect(Math.abs(sum / 2000)).toBeLessThan(4 * Math.sqrt(0.126 / 2000));
  });
});
