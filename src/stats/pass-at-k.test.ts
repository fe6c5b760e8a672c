import { describe, expect, it } from "vitest";
import { passAtK } from "./pass-at-k.ts";

/** The share of all k-subsets of n samples that hold one of the c passes. */
function byEnumeration(n: number, c: number, k: number): number {
  let subsets = 0;
  let passing = 0;
  for (let set = 0; set < 2 ** n; set++) {
    let size = 0;
    for (let bit = 0; bit < n; bit++) size += (set >> bit) & 1;
    if (size !== k) continue;
    subsets++;
    if ((set & (2 ** c - 1)) !== 0) passing++;
  }
  return passing / subsets;
}

function choose(n: number, k: number): bigint {
  let product = 1n;
  for (let j = 1; j <= k; j++) product = (product * BigInt(n - j + 1)) / BigInt(j);
  return product;
}

describe("passAtK", () => {
  it("equals full enumeration", () => {
    for (let n = 1; n <= 8; n++) {
      for (let c = 0; c <= n; c++) {
        for (let k = 1; k <= n; k++) {
          expect(passAtK(n, c, k)).toBeCloseTo(byEnumeration(n, c, k), 14);
        }
      }
    }
  });

  it.each([
    [200, 3, 100],
    [1000, 1, 7],
    [5000, 17, 64],
    [100_000, 2, 3],
  ])("equals 1 - C(n - c, k) / C(n, k) for n = %i, c = %i, k = %i", (n, c, k) => {
    const all = choose(n, k);
    const expected = Number(((all - choose(n - c, k)) * 10n ** 24n) / all) / 1e24;
    expect(Math.abs((passAtK(n, c, k) as number) / expected - 1)).toBeLessThan(1e-12);
  });

  it("is exact where it can be", () => {
    expect(passAtK(1000, 0, 500)).toBe(0);
    for (let n = 1; n <= 40; n++) {
      for (let k = 1; k <= n; k++) expect(passAtK(n, n - k + 1, k)).toBe(1);
    }
    for (let c = 0; c <= 97; c++) expect(passAtK(97, c, 1)).toBe(c / 97);
  });

  it("is undefined with too few samples", () => {
    expect(passAtK(4, 2, 5)).toBeUndefined();
    expect(passAtK(0, 0, 1)).toBeUndefined();
  });

  it("refuses impossible counts", () => {
    expect(() => passAtK(4, 5, 1)).toThrow(RangeError);
    expect(() => passAtK(4, 2, 0)).toThrow(RangeError);
  });
});
