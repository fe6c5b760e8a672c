import { expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { RateCounts } from "./rate-counts.ts";

const countsOf = (packs: readonly (readonly (number | null)[])[]) => {
  const counts = new RateCounts();
  for (const pack of packs)
    for (const [sample, reward] of pack.entries())
      counts.add({
        ...{ reward, passed: (reward ?? 0) >= 1 },
        ...(pack.length > 1 && { sample }),
      });
  return counts;
};

test("of one reward for each example: mean ± 1.96 standard errors", () => {
  const rewards = [0.2, 0.4, 0.9, 1, 0.5];
  const counts = countsOf(rewards.map((reward) => [reward]));
  const mean = 3 / 5;
  const variance = rewards.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 4;
  const half = 1.959963984540054 * Math.sqrt(variance / 5);
  const [low, high] = counts.meanInterval() ?? [];
  expect(low).toBeCloseTo(mean - half, 12);
  expect(high).toBeCloseTo(mean + half, 12);
});

test("samples of an example that all agree tell no more than one of them", () => {
  const rewards = [0.2, 0.4, 0.9, 1, 0.5, 0.1];
  const once = countsOf(rewards.map((reward) => [reward])).meanInterval() ?? [];
  const often = countsOf(rewards.map((reward) => [reward, reward, reward])).meanInterval() ?? [];
  expect(often[0]).toBeCloseTo(once[0] as number, 12);
  expect(often[1]).toBeCloseTo(once[1] as number, 12);
});

test("it holds the true mean about 95 times of 100", () => {
  let held = 0;
  for (let seed = 0; seed < 400; seed++) {
    const rng = rngAt("mean-interval", seed);
    const packs = Array.from({ length: 60 }, () => {
      const ease = rng.next();
      return [0, 1, 2].map(() => (ease + rng.next()) / 2);
    });
    const [low, high] = countsOf(packs).meanInterval() as [number, number];
    if (low <= 0.5 && high >= 0.5) held++;
  }
  expect(held / 400).toBeGreaterThan(0.91);
  expect(held / 400).toBeLessThan(0.985);
});

test("rewards of 0 and 1 have the interval of the pass rate only; rows without reward do not count", () => {
  expect(countsOf([[0], [1], [1]]).meanInterval()).toBeNull();
  expect(countsOf([[0.5]]).meanInterval()).toBeNull();
  expect(countsOf([[0.5], [null], [0.7]]).meanInterval()).toEqual(
    countsOf([[0.5], [0.7]]).meanInterval(),
  );
});
