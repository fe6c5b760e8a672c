import fc from "fast-check";
import { expect, test } from "vitest";
import { rngAt, shuffled } from "./rng.ts";

test("the same coordinates give the same stream, whatever was drawn elsewhere", () => {
  const alone = Array.from({ length: 5 }, () => 0).map(
    (
      (rng) => () =>
        rng.next()
    )(rngAt(7, "dev-1", 3)),
  );
  const other = rngAt(7, "dev-2", 3);
  const again = rngAt(7, "dev-1", 3);
  const mixed = alone.map(() => {
    other.next();
    return again.next();
  });
  expect(mixed).toEqual(alone);
});

test("every coordinate matters, and so do their types and boundaries", () => {
  const streams = [[0], [1], ["0"], [0, 0], ["a", "b"], ["ab"], ["a|s1:b"], [0.5], [-1]].map((at) =>
    rngAt(...at).next(),
  );
  expect(new Set(streams).size).toBe(streams.length);
  expect(rngAt(-0).next()).toBe(rngAt(0).next());
});

test("neighbouring seeds are uniform and uncorrelated", () => {
  const n = 20_000;
  let sum = 0;
  let product = 0;
  for (let seed = 0; seed < n; seed++) {
    const [x, y] = [rngAt(seed, "x").next(), rngAt(seed + 1, "x").next()];
    sum += x;
    product += (x - 0.5) * (y - 0.5);
  }
  expect(Math.abs(sum / n - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / n));
  expect(Math.abs(product / n)).toBeLessThan(4 * (1 / 12 / Math.sqrt(n)));
});

test("below is uniform over its range", () => {
  const rng = rngAt("below");
  const counts = new Array(7).fill(0);
  for (let i = 0; i < 70_000; i++) counts[rng.below(7)]++;
  const chi = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
  expect(chi).toBeLessThan(22.5); // 0.999 quantile of chi-square with 6 degrees of freedom
});

test("shuffled is a permutation and leaves its argument alone", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (items, seed) => {
      const before = [...items];
      const mixed = shuffled(items, rngAt(seed));
      expect(items).toEqual(before);
      expect([...mixed].sort()).toEqual([...items].sort());
    }),
  );
});
