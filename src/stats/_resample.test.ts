import { describe, expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import { affordable, drawFlippedSum, flipWork } from "./_resample.ts";

describe("affordable", () => {
  it("keeps to the limit, never below 1000, never above what was wanted", () => {
    expect(affordable(10_000, 0)).toBe(10_000);
    expect(affordable(10_000, 5000)).toBe(10_000);
    expect(affordable(10_000, 10_000)).toBe(5000);
    expect(affordable(10_000, 1_000_000)).toBe(1000);
    expect(affordable(300, 1_000_000)).toBe(300);
    expect(() => affordable(0, 1)).toThrow(RangeError);
  });
});

describe("drawFlippedSum", () => {
  it("tosses every pair fairly, across words and past the change of method", () => {
    // The sum of values times signs has mean 0 and variance sum of count * value^2.
    const sizes = {
      values: Float64Array.of(1, 2, 3, 5, 7),
      counts: Float64Array.of(29, 31, 100, 299, 300),
    };
    const variance = 29 + 31 * 4 + 100 * 9 + 299 * 25 + 300 * 49;
    const sums = Array.from({ length: 20_000 }, (_, i) => drawFlippedSum(sizes, rngAt("flip", i)));
    const mean = sums.reduce((total, sum) => total + sum, 0) / sums.length;
    const spread = sums.reduce((total, sum) => total + sum * sum, 0) / sums.length;
    expect(Math.abs(mean)).toBeLessThan(4 * Math.sqrt(variance / sums.length));
    expect(Math.abs(spread / variance - 1)).toBeLessThan(4 * Math.sqrt(2 / sums.length));
  });

  it("is charged by the word and not beyond a binomial draw", () => {
    const values = Float64Array.of(1, 2, 3, 4);
    expect(flipWork({ values, counts: Float64Array.of(1, 30, 31, 1e6) })).toBe(1 + 1 + 2 + 10);
  });
});
