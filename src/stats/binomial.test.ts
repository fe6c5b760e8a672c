import { describe, expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import { binomialTail, drawBinomial, logBinomialPmf } from "./binomial.ts";

/** Row n of Pascal's triangle, exactly. */
function pascalRow(n: number): bigint[] {
  const row = [1n];
  for (let k = 1; k <= n; k++) row.push(((row[k - 1] as bigint) * BigInt(n - k + 1)) / BigInt(k));
  return row;
}

/** numerator / 2^n to the nearest double but a few bits; the numerator may exceed any double. */
function overPowerOfTwo(numerator: bigint, n: number): number {
  const shift = Math.max(0, numerator.toString(2).length - 64);
  return Number(numerator >> BigInt(shift)) * 2 ** (shift - n);
}

function relativeError(found: number, expected: number): number {
  return Math.abs(found / expected - 1);
}

describe("binomialTail", () => {
  it("is exact to the bit while counts are whole", () => {
    for (let n = 0; n <= 45; n++) {
      let sum = 0n;
      for (const [k, term] of pascalRow(n).entries()) {
        sum += term;
        expect(binomialTail(k, n)).toBe(Number(sum) / 2 ** n);
      }
    }
  });

  it.each([200, 999, 1000, 1001, 1073])("agrees with exact sums at n = %i, far tails too", (n) => {
    let sum = 0n;
    for (const [k, term] of pascalRow(n).entries()) {
      sum += term;
      expect(relativeError(binomialTail(k, n), overPowerOfTwo(sum, n))).toBeLessThan(2e-12);
    }
  });

  // Summed term by term with 60 digits in mpmath.
  it.each([
    [700, 1500, 0.005279627733355772],
    [49_000, 100_000, 1.294358019173449e-10],
    [499_999, 1_000_000, 0.4996010578193341],
    [499_000, 1_000_000, 0.02280414993269104],
    [495_000, 1_000_000, 7.690777521953676e-24],
    [482_000, 1_000_000, 3.7694958097349926e-284],
    [500_700, 1_000_000, 0.9193929802534574],
  ])("P(X <= %i) of %i keeps eleven digits", (k, n, expected) => {
    expect(relativeError(binomialTail(k, n), expected)).toBeLessThan(1e-11);
  });

  it("has sure ends", () => {
    expect(binomialTail(-1, 10)).toBe(0);
    expect(binomialTail(10, 10)).toBe(1);
    expect(binomialTail(0, 0)).toBe(1);
    expect(binomialTail(0, 1_000_000)).toBe(0);
  });

  it("refuses fractions", () => {
    expect(() => binomialTail(0.5, 3)).toThrow(RangeError);
    expect(() => binomialTail(1, 3.5)).toThrow(RangeError);
  });
});

describe("logBinomialPmf", () => {
  // 60 digits in mpmath.
  it.each([
    [3, 10, 0.3, -1.3211512777668886],
    [1, 40, 0.25, -8.91701573262541],
    [15, 10_000_000, 0.000001, -3.3604954889311145],
    [3_000_000, 10_000_000, 0.3, -8.197662515900705],
    [3_004_000, 10_000_000, 0.3, -12.006600105660947],
  ])("log P(X = %i), n = %i, p = %f", (k, n, p, expected) => {
    expect(Math.abs(logBinomialPmf(k, n, p) - expected)).toBeLessThan(1e-11);
  });

  it.each([
    [12, 0.5],
    [12, 0.07],
    [60, 0.93],
  ])("adds up to 1 for n = %i, p = %f", (n, p) => {
    let sum = 0;
    for (let k = -1; k <= n + 1; k++) sum += Math.exp(logBinomialPmf(k, n, p));
    expect(sum).toBeCloseTo(1, 12);
  });
});

/**
 * Pearson's statistic, standardised by its own mean and spread. Values are taken `width` to a cell;
 * cells where fewer than five draws are expected make up one cell together.
 */
function chiSquareZ(draws: readonly number[], n: number, p: number, width: number): number {
  const seen = new Map<number, number>();
  for (const k of draws) add(seen, Math.floor(k / width), 1);
  const expected = new Map<number, number>();
  const reach = 8 * Math.sqrt(n * p * (1 - p)) + 40;
  for (let k = Math.max(0, Math.floor(n * p - reach)); k <= Math.min(n, n * p + reach); k++) {
    add(expected, Math.floor(k / width), draws.length * Math.exp(logBinomialPmf(k, n, p)));
  }
  const large = [...expected].filter(([, count]) => count >= 5);
  const rest = { seen: draws.length, expected: draws.length, statistic: 0 };
  for (const [cell, count] of large) {
    const found = seen.get(cell) ?? 0;
    rest.statistic += (found - count) ** 2 / count;
    rest.seen -= found;
    rest.expected -= count;
  }
  const statistic = rest.statistic + (rest.seen - rest.expected) ** 2 / Math.max(5, rest.expected);
  return (statistic - large.length) / Math.sqrt(2 * large.length);
}

function add(counts: Map<number, number>, key: number, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

/**
 * What one attempt of the rejection sampler makes of points spread evenly over the unit square
 * (Roberts' R2 sequence), which tells far more than as many random draws.
 */
function acceptedOnEvenPoints(n: number, p: number, points: number): Map<number, number> {
  const accepted = new Map<number, number>();
  const rejected = new Error("rejected");
  for (let i = 1; i <= points; i++) {
    const coordinates = [(i * 0.7548776662466927) % 1, (i * 0.5698402909980532) % 1];
    const next = () => {
      const coordinate = coordinates.shift();
      if (coordinate === undefined) throw rejected;
      return coordinate;
    };
    try {
      add(accepted, drawBinomial(n, p, { next, below: () => 0 }), 1);
    } catch (thrown) {
      if (thrown !== rejected) throw thrown;
    }
  }
  return accepted;
}

describe("drawBinomial", () => {
  it.each([
    // By inversion.
    [1, 0.5, 1],
    [19, 0.5, 1],
    [12, 0.93, 1],
    [400, 0.02, 1],
    [10_000_000, 3e-7, 1],
    // By rejection.
    [20, 0.5, 1],
    [40, 0.25, 1],
    [40, 0.75, 1],
    [1000, 0.3, 1],
    [100_000, 0.999, 1],
    [10_000_000, 0.5, 100],
    [10_000_000, 0.0001, 2],
  ])("n = %i, p = %f has the right mean, variance and shape", (n, p, cellWidth) => {
    const rng = rngAt("draw", n, p);
    const draws = Array.from({ length: 100_000 }, () => drawBinomial(n, p, rng));
    const variance = n * p * (1 - p);
    const mean = draws.reduce((sum, k) => sum + k, 0) / draws.length;
    const spread = draws.reduce((sum, k) => sum + (k - n * p) ** 2, 0) / draws.length;
    expect(draws.every((k) => Number.isInteger(k) && k >= 0 && k <= n)).toBe(true);
    expect(Math.abs(mean - n * p)).toBeLessThan(4 * Math.sqrt(variance / draws.length));
    // Var((X - np)^2) = variance + 2 variance^2 - 6 variance^2 / n, from the kurtosis.
    const spreadError = Math.sqrt((variance + variance ** 2 * (2 - 6 / n)) / draws.length);
    expect(Math.abs(spread - variance)).toBeLessThan(4 * spreadError + 1e-9);
    expect(chiSquareZ(draws, n, p, cellWidth)).toBeLessThan(4);
  });

  it.each([
    [20, 0.5],
    [40, 0.25],
    [200, 0.06],
    [1000, 0.3],
  ])("n = %i, p = %f accepts in proportion to the probability", (n, p) => {
    const accepted = acceptedOnEvenPoints(n, p, 400_000);
    const total = [...accepted.values()].reduce((sum, count) => sum + count, 0);
    let excess = 0;
    let furthest = 0;
    for (let k = 0; k <= n; k++) {
      excess += (accepted.get(k) ?? 0) / total - Math.exp(logBinomialPmf(k, n, p));
      furthest = Math.max(furthest, Math.abs(excess));
    }
    expect(furthest).toBeLessThan(0.0002);
  });

  it("takes the sure cases as they are", () => {
    const rng = rngAt("sure");
    expect([drawBinomial(0, 0.4, rng), drawBinomial(50, 0, rng)]).toEqual([0, 0]);
    expect(drawBinomial(50, 1, rng)).toBe(50);
  });

  it("survives a generator stuck at either end", () => {
    const alternate = (...values: number[]) => {
      let i = 0;
      const next = () => values[i++ % values.length] as number;
      return { next, below: (bound: number) => Math.floor(next() * bound) };
    };
    const nearlyOne = 1 - 2 ** -53;
    for (const p of [1e-6, 0.01, 0.5]) {
      for (const stuck of [0, nearlyOne]) {
        const k = drawBinomial(1000, p, alternate(stuck, 0.4, 0.3));
        expect(k).toBeGreaterThanOrEqual(0);
        expect(k).toBeLessThanOrEqual(1000);
      }
    }
  });

  it("refuses what is no count and no probability", () => {
    expect(() => drawBinomial(2.5, 0.5, rngAt(1))).toThrow(RangeError);
    expect(() => drawBinomial(2, 1.5, rngAt(1))).toThrow(RangeError);
    expect(() => drawBinomial(2, Number.NaN, rngAt(1))).toThrow(RangeError);
  });
});
