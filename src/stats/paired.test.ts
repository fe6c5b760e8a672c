import { describe, expect, it } from "vitest";
import { type Rng, rngAt } from "../core/rng.ts";
import { logBinomialPmf } from "./binomial.ts";
import { DifferenceCounts } from "./difference-counts.ts";
import { mcnemarExact } from "./mcnemar.ts";
import { type BootstrapOptions, pairedBootstrap, signFlipTest } from "./paired.ts";

function binary(gained: number, lost: number, same: number): DifferenceCounts {
  const counted = new DifferenceCounts();
  counted.add(1, gained);
  counted.add(-1, lost);
  counted.add(0, same);
  return counted;
}

function bootstrap(differences: DifferenceCounts, options: BootstrapOptions) {
  const interval = pairedBootstrap(differences, options);
  if (interval === undefined) throw new Error("no interval");
  return interval;
}

/** Roughly normal: the sum of twelve uniforms, less its mean. */
function bell(rng: Rng): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += rng.next();
  return sum;
}

/** The least k with P(X <= k) >= q for X ~ Bin(n, p). */
function binomialQuantile(q: number, n: number, p: number): number {
  let sum = 0;
  for (let k = 0; ; k++) {
    sum += Math.exp(logBinomialPmf(k, n, p));
    if (sum >= q) return k;
  }
}

describe("pairedBootstrap", () => {
  it("has the quantiles of the exact bootstrap distribution", () => {
    // Resampling 0s and 1s is a binomial draw, so the ideal interval is known.
    const { low, high } = bootstrap(binary(120, 0, 280), { seed: 3, resamples: 40_000 });
    expect(Math.abs(low * 400 - binomialQuantile(0.025, 400, 0.3))).toBeLessThanOrEqual(1);
    expect(Math.abs(high * 400 - binomialQuantile(0.975, 400, 0.3))).toBeLessThanOrEqual(1);
  });

  it("draws the same distribution by value and by pair", () => {
    const rng = rngAt("jitter");
    const coarse = binary(80, 30, 390);
    const fine = new DifferenceCounts();
    const { values, counts } = coarse.histogram();
    values.forEach((value, i) => {
      for (let j = 0; j < (counts[i] as number); j++) fine.add(value + 1e-9 * rng.next());
    });
    expect(fine.distinct).toBe(500);
    const byValue = bootstrap(coarse, { seed: 5 });
    const byPair = bootstrap(fine, { seed: 5 });
    const standardError = Math.sqrt(0.22 / 500);
    expect(Math.abs(byValue.low - byPair.low)).toBeLessThan(0.12 * standardError);
    expect(Math.abs(byValue.high - byPair.high)).toBeLessThan(0.12 * standardError);
  });

  it("reaches the first pair and the last", () => {
    // Of two pairs a quarter of resamples holds only the one and a quarter only the other.
    const two = DifferenceCounts.of([0, 1]);
    expect(bootstrap(two, { seed: 1, confidence: 0.6 })).toMatchObject({ low: 0, high: 1 });
    expect(bootstrap(two, { seed: 1, confidence: 0.4 })).toMatchObject({ low: 0.5, high: 0.5 });
  });

  it("covers the truth as often as it says, pass or fail", () => {
    let covered = 0;
    for (let i = 0; i < 400; i++) {
      const rng = rngAt("coverage", i);
      const counted = new DifferenceCounts();
      for (let j = 0; j < 300; j++) counted.add(triple(rng.next()));
      const { low, high } = bootstrap(counted, { seed: i, resamples: 1000 });
      if (low <= 0.1 && 0.1 <= high) covered++;
    }
    // Three standard errors of 400 trials, and the percentile interval's own slight narrowness.
    expect(covered / 400).toBeGreaterThan(0.915);
    expect(covered / 400).toBeLessThan(0.983);
  });

  it("covers the truth as often as it says, continuous and at 80%", () => {
    let covered = 0;
    for (let i = 0; i < 300; i++) {
      const rng = rngAt("continuous", i);
      const counted = DifferenceCounts.of(Array.from({ length: 60 }, () => 0.3 + bell(rng)));
      const { low, high } = bootstrap(counted, { seed: i, resamples: 1000, confidence: 0.8 });
      if (low <= 0.3 && 0.3 <= high) covered++;
    }
    expect(covered / 300).toBeGreaterThan(0.72);
    expect(covered / 300).toBeLessThan(0.87);
  });

  it("repeats with the seed, whatever order pairs came in, and not with another", () => {
    const values = Array.from({ length: 40 }, (_, i) => Math.sin(i));
    const forward = DifferenceCounts.of(values);
    const backward = DifferenceCounts.of([...values].reverse());
    const first = bootstrap(forward, { seed: 7, resamples: 500 });
    expect(bootstrap(backward, { seed: 7, resamples: 500 })).toEqual(first);
    expect(bootstrap(forward, { seed: 8, resamples: 500 })).not.toEqual(first);
  });

  it("gives up resamples before time, and says so", { timeout: 30_000 }, () => {
    const counted = DifferenceCounts.of(Array.from({ length: 20_000 }, (_, i) => Math.sin(i)));
    expect(bootstrap(counted, { seed: 1, resamples: 200 }).resamples).toBe(200);
    expect(bootstrap(counted, { seed: 1 }).resamples).toBe(2500);
    expect(bootstrap(binary(1, 2, 3), { seed: 1 }).resamples).toBe(10_000);
  });

  it("collapses when every pair says the same", () => {
    expect(bootstrap(binary(0, 0, 50), { seed: 1 })).toMatchObject({ low: 0, high: 0 });
    expect(bootstrap(binary(3, 0, 0), { seed: 1 })).toMatchObject({ low: 1, high: 1 });
  });

  it("has no interval without pairs", () => {
    expect(pairedBootstrap(new DifferenceCounts(), { seed: 1 })).toBeUndefined();
    expect(() => pairedBootstrap(binary(1, 1, 1), { seed: 1, resamples: 0 })).toThrow(RangeError);
    expect(() => pairedBootstrap(binary(1, 1, 1), { seed: 1, confidence: 1 })).toThrow(RangeError);
  });
});

/** -1, 0 or 1 with mean 0.1. */
function triple(u: number): number {
  if (u < 0.2) return 1;
  return u < 0.3 ? -1 : 0;
}

/** The exact p-value over all sign patterns of integers. */
function bySignEnumeration(values: readonly number[]): number {
  const seen = Math.abs(values.reduce((sum, value) => sum + value, 0));
  let extreme = 0;
  for (let pattern = 0; pattern < 2 ** values.length; pattern++) {
    const flipped = values.reduce((sum, v, i) => sum + ((pattern >> i) & 1 ? v : -v), 0);
    if (Math.abs(flipped) >= seen) extreme++;
  }
  return extreme / 2 ** values.length;
}

function expectNear(p: number, exact: number, resamples: number): void {
  expect(Math.abs(p - exact)).toBeLessThan(4 * Math.sqrt((exact * (1 - exact)) / resamples) + 1e-4);
}

describe("signFlipTest", () => {
  it.each([
    [[1, 2, 3, 4, 5]],
    [[3, -1, 4, -1, 5, -9, 2, 6, 5, 3, 5]],
    [[7, 7, 7, 0, 0, -2, 5, 5, 1, -1, 8, 4]],
    [[1, -1]],
  ])("agrees with every sign pattern of %j", (values) => {
    const { p } = signFlipTest(DifferenceCounts.of(values), { seed: 2, resamples: 20_000 });
    expectNear(p, bySignEnumeration(values), 20_000);
  });

  it.each([20, 24])("%i pairs: all sign patterns, with no floor of resampling", (n) => {
    expect(signFlipTest(binary(n, 0, 3), { seed: 1 }).p).toBe(2 ** (1 - n));
    expect(signFlipTest(binary(n - 3, 3, 0), { seed: 1 }).p).toBeCloseTo(
      mcnemarExact(n - 3, 3),
      15,
    );
  });

  it("counts as ties what rounding has parted", () => {
    // In tenths the sums tie exactly as the integers do; as doubles some miss by 1e-17.
    const options = { seed: 4, resamples: 2000 };
    for (const integers of [
      [1, 2, -3],
      [1, -2, 3, -4],
      [1, 2, -3, 9],
      [1, -2, 5, -6],
    ]) {
      const tenths = DifferenceCounts.of(integers.map((value) => value / 10));
      const whole = DifferenceCounts.of(integers);
      expect(signFlipTest(tenths, options)).toEqual(signFlipTest(whole, options));
    }
  });

  // Counts below a word, of several words, and past the change to binomial draws.
  it.each([
    [9, 3],
    [70, 45],
    [330, 270],
    [5200, 4930],
  ])("agrees with McNemar for %i gained and %i lost", (gained, lost) => {
    const { p } = signFlipTest(binary(gained, lost, 50), { seed: 6, resamples: 20_000 });
    expectNear(p, mcnemarExact(gained, lost), 20_000);
  });

  it("rejects a true null as often as it says", () => {
    let rejected = 0;
    for (let i = 0; i < 1000; i++) {
      const rng = rngAt("null", i);
      const counted = DifferenceCounts.of(Array.from({ length: 45 }, () => bell(rng)));
      if (signFlipTest(counted, { seed: i, resamples: 199 }).p <= 0.1) rejected++;
    }
    expect(rejected / 1000).toBeGreaterThan(0.07);
    expect(rejected / 1000).toBeLessThan(0.13);
  });

  it("never says 0, and says 1 when nothing differs", () => {
    const options = { seed: 1, resamples: 999 };
    const { p } = signFlipTest(binary(100, 0, 0), options);
    expect(p).toBeGreaterThan(mcnemarExact(100, 0));
    expect(p).toBeLessThan(1e-20);
    expect(signFlipTest(binary(10_000, 0, 0), options).p).toBeGreaterThan(0);
    expect(signFlipTest(binary(0, 0, 9), options).p).toBe(1);
    expect(signFlipTest(new DifferenceCounts(), options).p).toBe(1);
    expect(signFlipTest(DifferenceCounts.of([1e308, 1.5e308]), options).p).toBe(1);
  });

  it("repeats with the seed and not with another", () => {
    const counted = binary(40, 28, 100);
    const first = signFlipTest(counted, { seed: 7 });
    expect(signFlipTest(counted, { seed: 7 })).toEqual(first);
    expect(signFlipTest(counted, { seed: 8 })).not.toEqual(first);
    expect(first.resamples).toBe(10_000);
  });
});

it("treats a million pass-or-fail pairs in well under a second", () => {
  const rng = rngAt("million");
  const counted = new DifferenceCounts();
  for (let i = 0; i < 1_000_000; i++) counted.add(triple(rng.next()));
  const start = performance.now();
  const { low, high } = bootstrap(counted, { seed: 1 });
  signFlipTest(counted, { seed: 1 });
  expect(performance.now() - start).toBeLessThan(1000);
  expect(low).toBeGreaterThan(0.098);
  expect(high).toBeLessThan(0.102);
});
