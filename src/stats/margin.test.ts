import { expect, test } from "vitest";
import { logBinomialPmf } from "./binomial.ts";
import { marginRuledOut } from "./margin.ts";

test("without flips the bound is z² / (n + z²)", () => {
  const z2 = 1.959963984540054 ** 2;
  for (const n of [5, 40, 200]) {
    const bound = z2 / (n + z2);
    expect(marginRuledOut(0, 0, n, bound * 1.001, 0.05)).toBe(true);
    expect(marginRuledOut(0, 0, n, bound * 0.999, 0.05)).toBe(false);
  }
});

test("nothing is ruled out by nothing", () => {
  expect(marginRuledOut(0, 0, 0, 0.1, 0.05)).toBe(false);
});

/** With gains alone at exactly the margin, how often is the margin wrongly ruled out? */
function wrongRate(n: number, margin: number): number {
  let sum = 0;
  for (let gained = 0; gained <= n; gained++) {
    if (marginRuledOut(gained, 0, n, margin, 0.05))
      sum += Math.exp(logBinomialPmf(gained, n, margin));
  }
  return sum;
}

test("keeps its level where the bootstrap does not: gains alone, exactly at the margin", () => {
  for (const n of [5, 10, 20, 40, 60]) {
    for (const margin of [0.05, 0.1, 0.3])
      expect(wrongRate(n, margin), `${n} ${margin}`).toBeLessThan(0.06);
  }
});

test("is not fooled into never ruling anything out", () => {
  expect(marginRuledOut(10, 10, 200, 0.1, 0.05)).toBe(true);
  expect(marginRuledOut(20, 0, 200, 0.1, 0.05)).toBe(false);
  expect(marginRuledOut(0, 5, 20, 0.01, 0.05)).toBe(true);
});
