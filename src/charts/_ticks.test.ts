import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatTicks, linearTicks, logTicks, niceStep } from "./_ticks.ts";

describe("linear ticks", () => {
  test.each([
    [0, 1, 6, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 200, 5, [0, 50, 100, 150, 200]],
    [-4, 204, 9, [0, 50, 100, 150, 200]],
    [-0.3, 0.3, 6, [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]],
    [1, 4, 3, [1, 2, 3, 4]],
  ])("from %d to %d, at most %d steps", (low, high, most, expected) => {
    expect(linearTicks(low, high, most).major).toEqual(expected);
  });

  test("of whole numbers are never closer than 1", () => {
    expect(linearTicks(1, 3, 10, true).major).toEqual([1, 2, 3]);
    expect(linearTicks(1, 3, 10, false).major).toHaveLength(11);
  });

  test("lie inside, rise evenly, and are no more than was asked", () => {
    const size = fc.double({ min: 1e-9, max: 1e9, noNaN: true });
    const from = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(from, size, fc.integer({ min: 2, max: 12 }), (low, span, most) => {
        fc.pre(span > Math.abs(low) * 1e-6);
        const high = low + span;
        const { major } = linearTicks(low, high, most);
        const step = niceStep(high - low, most);
        expect(major.length).toBeLessThanOrEqual(most + 1);
        for (const [i, tick] of major.entries()) {
          expect(tick).toBeGreaterThanOrEqual(low - step * 1e-6);
          expect(tick).toBeLessThanOrEqual(high + step * 1e-6);
          if (i > 0) expect((tick - (major[i - 1] ?? 0)) / step).toBeCloseTo(1, 5);
        }
        expect(new Set(formatTicks(major)).size).toBe(major.length);
      }),
    );
  });
});

describe("log ticks", () => {
  test("are decades over a wide range, with the multiples between them as minor ticks", () => {
    const { major, minor } = logTicks(0.01, 100, 8);
    expect(major).toEqual([0.01, 0.1, 1, 10, 100]);
    expect(minor).toHaveLength(4 * 8);
    expect(minor).toContain(0.03);
  });

  test("are 1, 2, 5 over a narrow one, and even steps within less than a decade", () => {
    expect(logTicks(1, 64, 8).major).toEqual([1, 2, 5, 10, 20, 50]);
    expect(logTicks(1.1, 1.9, 5).major).toEqual([1.2, 1.4, 1.6, 1.8]);
  });

  test("leave decades out when there are too many", () => {
    expect(logTicks(1e-9, 1e9, 8).major).toEqual([1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9]);
  });
});

describe("labels", () => {
  test.each([
    ["share their decimals", [0, 0.5, 1], ["0.0", "0.5", "1.0"]],
    ["have a true minus sign and no minus zero", [-0.5, -0, 0.5], ["−0.5", "0.0", "0.5"]],
    ["group thousands from five digits", [9000, 10_000, 250_000], ["9000", "10,000", "250,000"]],
    ["of large numbers are powers", [0, 1e6, 2e6], ["0", "10⁶", "2×10⁶"]],
    ["of small numbers are powers", [5e-6, 1e-5, -1.5e-5], ["5.0×10⁻⁶", "1.0×10⁻⁵", "−1.5×10⁻⁵"]],
  ])("%s", (_, ticks, labels) => {
    expect(formatTicks(ticks)).toEqual(labels);
  });

  test("of a log axis have the decimals that each needs", () => {
    expect(formatTicks([0.001, 0.1, 1, 1000], false)).toEqual(["0.001", "0.1", "1", "1000"]);
    expect(formatTicks([1e-6, 1e-3, 1], false)).toEqual(["10⁻⁶", "10⁻³", "10⁰"]);
  });
});
