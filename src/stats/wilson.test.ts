import { describe, expect, it } from "vitest";
import { normalQuantile } from "./normal-quantile.ts";
import { wilsonInterval } from "./wilson.ts";

describe("wilsonInterval", () => {
  // 60 digits in mpmath; the first and last also from scipy's proportion_ci(method="wilson").
  it.each([
    [8, 10, 0.95, 0.4901624715366417, 0.9433178485456247],
    [1, 29, 0.95, 0.00611321429276266, 0.17175521879320288],
    [81, 263, 0.95, 0.2552885198782742, 0.36620957698280004],
    [81, 263, 0.9, 0.26331361718848145, 0.3565663496084882],
  ])("%i of %i at %f", (successes, n, confidence, low, high) => {
    const interval = wilsonInterval(successes, n, confidence);
    expect(interval?.[0]).toBeCloseTo(low, 13);
    expect(interval?.[1]).toBeCloseTo(high, 13);
  });

  it("ends where the score test just fails to reject", () => {
    const z = normalQuantile(0.975);
    for (const [successes, n] of [
      [3, 17],
      [40, 41],
      [1, 1000],
    ] as const) {
      for (const p of wilsonInterval(successes, n) ?? []) {
        expect(Math.abs(successes / n - p) / Math.sqrt((p * (1 - p)) / n)).toBeCloseTo(z, 9);
      }
    }
  });

  it("is exact at the ends", () => {
    expect(wilsonInterval(0, 10)).toEqual([0, expect.closeTo(0.27753279986288926, 13)]);
    expect(wilsonInterval(10, 10)).toEqual([expect.closeTo(0.7224672001371107, 13), 1]);
    for (let n = 1; n < 300; n++) {
      for (const confidence of [0.5, 0.8, 0.9, 0.95, 0.99]) {
        expect(wilsonInterval(0, n, confidence)?.[0]).toBe(0);
        expect(wilsonInterval(n, n, confidence)?.[1]).toBe(1);
      }
    }
  });

  it("says nothing about nothing", () => {
    expect(wilsonInterval(0, 0)).toBeUndefined();
  });

  it("refuses more successes than trials", () => {
    expect(() => wilsonInterval(4, 3)).toThrow(RangeError);
    expect(() => wilsonInterval(1, 3, 1)).toThrow(RangeError);
  });
});
