import { expect, test } from "vitest";
import { type Rng, rngAt } from "../core/rng.ts";
import type { EvaluationRecord } from "../runs/train-records.ts";
import { DifferenceCounts } from "../stats/difference-counts.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { normalQuantile } from "../stats/normal-quantile.ts";
import { signFlipTest } from "../stats/paired.ts";
import { jitter, pairedShift, trend } from "./trend.ts";

const normal = (rng: Rng) =>
  Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());

const evaluation = (rewards: (number | null)[]): EvaluationRecord => ({
  ...{ step: 0, examples: rewards.length, rewards, pass_rate: 0, reward_mean: 0, proxy_mean: 0 },
  ...{ kl_exact: null, entropy: 1, length_mean: 1, truncated: 0, repeated: 0, outcomes: {} },
});

test("the trend of a perfect order is that of the formula: (28 - 1) / sqrt(8 · 7 · 21 / 18)", () => {
  expect(trend([1, 2, 3, 4, 5, 6, 7, 8])).toBeCloseTo(27 / Math.sqrt(196 / 3), 12);
  expect(trend([8, 7, 6, 5, 4, 3, 2, 1])).toBeCloseTo(-27 / Math.sqrt(196 / 3), 12);
});

test("ties lessen the variance: 1 1 2 2 has s = 4 and variance (4 · 3 · 13 - 2 · 2 · 9) / 18", () => {
  expect(trend([1, 1, 2, 2])).toBeCloseTo(3 / Math.sqrt(120 / 18), 12);
});

test("nothing moves: no trend", () => {
  for (const values of [[], [1], [3, 3, 3, 3]]) expect(trend(values)).toBe(0);
});

test("noise has a trend beyond 2.326 as often as it should, in long series too", () => {
  for (const n of [20, 450]) {
    const zs = Array.from({ length: 2000 }, (_, run) => {
      const rng = rngAt("trend", n, run);
      return trend(Array.from({ length: n }, () => normal(rng)));
    });
    const share = zs.filter((z) => z > normalQuantile(0.99)).length / zs.length;
    expect(share).toBeGreaterThan(0.004);
    expect(share).toBeLessThan(0.016);
  }
});

test("jitter is the standard deviation of noise, whatever slope or leap lies under it", () => {
  const rng = rngAt("jitter");
  const noise = Array.from({ length: 2000 }, () => normal(rng));
  expect(jitter(noise)).toBeCloseTo(1, 1);
  expect(jitter(noise.map((value, i) => value + i / 100 + (i > 900 ? 50 : 0)))).toBeCloseTo(1, 1);
  expect(jitter([])).toBe(0);
});

test("a shift agrees with McNemar's test and the sign-flip test", () => {
  const before = Array.from({ length: 200 }, (_, i) => Number(i < 100));
  const after = Array.from({ length: 200 }, (_, i) => Number(i >= 30 && i < 110));
  const shift = pairedShift([evaluation(before)], [evaluation(after)]);
  expect(shift).toMatchObject({ examples: 200, mean: -0.1 });
  const p = mcnemarExact(10, 30);
  const differences = DifferenceCounts.of(before.map((reward, i) => (after[i] ?? 0) - reward));
  expect(signFlipTest(differences, { seed: 1 }).p).toBeCloseTo(p, 3);
  // z has no continuity correction, so it lies between p and half a flip less.
  expect(shift?.z).toBeLessThan(normalQuantile(p / 2));
  expect(shift?.z).toBeGreaterThan(normalQuantile(mcnemarExact(9, 31) / 2));
});

test("evaluations are averaged example by example, and one that broke is left out", () => {
  const after = [evaluation([0, 1, 1]), evaluation([1, 1, null])];
  expect(pairedShift([evaluation([1, 0, 0])], after)).toMatchObject({ examples: 2, mean: 0.25 });
});

test("other examples, or none, cannot be compared", () => {
  expect(pairedShift([evaluation([1, 0])], [evaluation([1, 0, 1])])).toBeUndefined();
  expect(pairedShift([], [evaluation([1, 0])])).toBeUndefined();
  expect(pairedShift([evaluation([1])], [evaluation([0])])).toBeUndefined();
});
