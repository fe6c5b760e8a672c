import { describe, expect, it } from "vitest";
import { normalQuantile } from "./normal-quantile.ts";

describe("normalQuantile", () => {
  // By inverting erf with 60 digits in mpmath; every branch and both sides of each border.
  it.each([
    [0.5, 0],
    [0.6, 0.2533471031357998],
    [0.75, 0.6744897501960817],
    [0.8, 0.8416212335729142],
    [0.925, 1.439531470938456],
    [0.93, 1.4757910281791706],
    [0.975, 1.9599639845400543],
    [0.995, 2.575829303548901],
    [1e-12, -7.034483825301132],
    [1e-20, -9.262340089798407],
    [1e-300, -37.0470962993612],
  ])("z(%d)", (p, z) => {
    expect(Math.abs(normalQuantile(p) - z)).toBeLessThan(1e-13);
  });

  it("is odd about one half", () => {
    for (const p of [0.01, 0.06, 0.2, 0.4]) {
      expect(normalQuantile(1 - p)).toBeCloseTo(-normalQuantile(p), 12);
    }
  });

  it("inverts the integral of the density", () => {
    // Simpson's rule from 0 to z, an independent route to p.
    for (const p of [0.55, 0.7, 0.9, 0.97, 0.999]) {
      expect(0.5 + integratedDensity(normalQuantile(p))).toBeCloseTo(p, 11);
    }
  });

  it("reaches the ends and no further", () => {
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
    expect(() => normalQuantile(1.1)).toThrow(RangeError);
    expect(() => normalQuantile(Number.NaN)).toThrow(RangeError);
  });
});

function integratedDensity(z: number, steps = 2000): number {
  const width = z / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp(-((i * width) ** 2) / 2);
  }
  return (sum * width) / 3 / Math.sqrt(2 * Math.PI);
}
