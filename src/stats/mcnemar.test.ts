import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mcnemarExact, smallestSignificantFlips } from "./mcnemar.ts";

/** Every assignment of directions to the discordant pairs, counted where it is as lopsided. */
function byEnumeration(gained: number, lost: number): number {
  const n = gained + lost;
  let extreme = 0;
  for (let pattern = 0; pattern < 2 ** n; pattern++) {
    let ones = 0;
    for (let bit = 0; bit < n; bit++) ones += (pattern >> bit) & 1;
    if (Math.abs(2 * ones - n) >= Math.abs(gained - lost)) extreme++;
  }
  return extreme / 2 ** n;
}

describe("mcnemarExact", () => {
  it("equals full enumeration", () => {
    for (let gained = 0; gained <= 6; gained++) {
      for (let lost = 0; lost <= 6; lost++) {
        expect(mcnemarExact(gained, lost)).toBe(byEnumeration(gained, lost));
      }
    }
  });

  // scipy.stats.binomtest
  it.each([
    [6, 16, 0.052478790283203125],
    [5, 0, 0.0625],
    [25, 10, 0.016673847800120715],
    [101, 59, 0.0011229051962340462],
  ])("%i gained, %i lost", (gained, lost, p) => {
    expect(mcnemarExact(gained, lost)).toBeCloseTo(p, 14);
  });

  it("has nothing to say without discordant pairs", () => {
    expect(mcnemarExact(0, 0)).toBe(1);
  });

  it("does not care which run is first, and stays a probability at any size", () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, (a, b) => {
        const p = mcnemarExact(a, b);
        expect(p).toBe(mcnemarExact(b, a));
        expect(p).toBeGreaterThanOrEqual(0);
        expect(p).toBeLessThanOrEqual(1);
      }),
      { seed: 1 },
    );
  });

  it("falls as one side grows", () => {
    for (let gained = 30; gained < 60; gained++) {
      expect(mcnemarExact(gained + 1, 20)).toBeLessThan(mcnemarExact(gained, 20));
    }
  });

  it("refuses negative counts", () => {
    expect(() => mcnemarExact(-1, 3)).toThrow(RangeError);
  });
});

describe("smallestSignificantFlips", () => {
  it.each([
    [0.5, 2],
    [0.1, 5],
    [0.0625, 5],
    [0.0624, 6],
    [0.05, 6],
    [0.01, 8],
    [0.001, 11],
  ])("alpha = %f needs %i", (alpha, flips) => {
    expect(smallestSignificantFlips(alpha)).toBe(flips);
    expect(mcnemarExact(flips, 0)).toBeLessThanOrEqual(alpha);
    expect(mcnemarExact(flips - 1, 0)).toBeGreaterThan(alpha);
  });

  it("refuses a level that no test could have", () => {
    expect(() => smallestSignificantFlips(0)).toThrow(RangeError);
    expect(() => smallestSignificantFlips(1)).toThrow(RangeError);
  });
});
