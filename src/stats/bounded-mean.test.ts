import { describe, expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import { logBinomialPmf } from "./binomial.ts";
import {
  meanLossPValue,
  meanLossRuledOut,
  smallestMeanShown,
  unitsToRuleOut,
} from "./bounded-mean.ts";
import { ClusterCounts } from "./cluster-counts.ts";
import { DifferenceCounts } from "./difference-counts.ts";

const ALPHA = 0.05;
const ruledOut = (differences: DifferenceCounts, margin: number, range = 1, size?: number) => {
  const { pairs } = differences;
  const units = differences.units().map((unit) => ({
    ...unit,
    count: (unit.count * (size ?? pairs)) / pairs,
  }));
  return meanLossRuledOut({ units, range, margin, alpha: ALPHA });
};
/** `losses` of n lose everything, the others change by `rest`. */
const losing = (n: number, losses: number, rest = 0) => {
  const differences = new DifferenceCounts();
  differences.add(-1, losses);
  differences.add(rest, n - losses);
  return differences;
};

describe("meanLossRuledOut", () => {
  it.each([
    [100, 0.05, 0],
    [400, 0.05, 0],
    [400, 0.02, 0],
    [100, 0.1, 0.02],
    [1000, 0.02, 0.001],
  ])(
    "%i examples, rare total losses at the margin %d, the others gain %d: wrong at most half of alpha",
    (n, margin, rest) => {
      // The share that loses everything, so that the mean loss is exactly the margin.
      const share = (margin + rest) / (1 + rest);
      let wrong = 0;
      for (let losses = 0; losses <= n; losses++)
        if (ruledOut(losing(n, losses, rest), margin))
          wrong += Math.exp(logBinomialPmf(losses, n, share));
      expect(wrong).toBeLessThanOrEqual(ALPHA / 2);
      expect(wrong).toBeGreaterThan(0);
    },
  );

  it("a normal bound is wrong far more often: 30 small changes and a rare loss that is not drawn", () => {
    const [n, margin, rest] = [100, 0.02, 0.0001];
    const share = (margin + rest) / (1 + rest);
    // Without a total loss, which has a chance of 13 %, the normal bound has hardly any width.
    expect(Math.exp(logBinomialPmf(0, n, share))).toBeGreaterThan(ALPHA);
    expect(losing(n, 0, rest).variance()).toBeCloseTo(0, 12);
    expect(ruledOut(losing(n, 0, rest), margin)).toBe(false);
  });

  it.each([
    ["nothing changed", 73, 90, losing(1000, 0)],
    ["a tenth of a reward up or down", 73, 110, DifferenceCounts.of([-0.1, 0.1])],
    ["one in a hundred each way", 121, 160, twoWays(1)],
    ["one in ten each way", 308, 900, twoWays(10)],
  ])("%s: needs between %i and %i examples for a margin of 0.05", (_, least, most, differences) => {
    expect(ruledOut(differences, 0.05, 1, least)).toBe(false);
    expect(ruledOut(differences, 0.05, 1, most)).toBe(true);
  });

  it("a larger margin is never harder to rule out", () => {
    for (let seed = 0; seed < 60; seed++) {
      const rng = rngAt("monotone", seed);
      const n = 20 + rng.below(600);
      const differences = DifferenceCounts.of(
        Array.from({ length: n }, () => (rng.next() < 0.3 ? (rng.below(9) - 4) / 4 : 0)),
      );
      const margins = Array.from({ length: 20 }, (_, i) => 0.03 * (i + 1));
      const found = margins.map((margin) => Number(ruledOut(differences, margin)));
      expect(found).toEqual(found.toSorted((a, b) => a - b));
    }
  });

  it("clusters of one size are their means, and unequal ones weigh by their rows", () => {
    const [clusters, means] = [new ClusterCounts(), new DifferenceCounts()];
    for (let i = 0; i < 120; i++) {
      const sum = rngAt("clusters", i).below(3) - 1;
      clusters.add(sum, 4);
      means.add(sum / 4);
    }
    for (const margin of [0.03, 0.05, 0.08, 0.12, 0.2])
      expect(meanLossRuledOut({ units: clusters.units(), range: 1, margin, alpha: ALPHA })).toBe(
        ruledOut(means, margin),
      );
    const uneven = new ClusterCounts();
    for (let i = 0; i < 100; i++) uneven.add(0, 1);
    const even = { units: uneven.units(), range: 1, margin: 0.05, alpha: ALPHA };
    expect(meanLossRuledOut(even)).toBe(true);
    // One prompt with as many rows as all the others: half of the mean rests on it.
    uneven.add(0, 100);
    expect(meanLossRuledOut({ ...even, units: uneven.units() })).toBe(false);
  });

  it("rules out nothing without units, a margin or a range, and more than everything always", () => {
    expect(ruledOut(new DifferenceCounts(), 0.1)).toBe(false);
    expect(ruledOut(losing(500, 0), 0)).toBe(false);
    expect(ruledOut(losing(500, 0), 0.5, 0)).toBe(false);
    expect(ruledOut(losing(10, 10), 1.01)).toBe(true);
    expect(ruledOut(losing(10, 10), 1)).toBe(false);
    expect(ruledOut(losing(10, 9), 1)).toBe(true);
  });
});

/** So many of a hundred gain everything, and so many lose it. */
function twoWays(each: number): DifferenceCounts {
  const differences = losing(100 - each, each);
  differences.add(1, each);
  return differences;
}

/** Changes with their probabilities. */
type Shares = readonly (readonly [change: number, share: number])[];

const unitsOf = (shares: Shares) =>
  shares.map(([change, share]) => ({ change, weight: 1, count: 1000 * share }));

/** n draws of the changes. */
function drawn(shares: Shares, n: number, seed: number) {
  const rng = rngAt("power of bets", seed);
  const differences = new DifferenceCounts();
  for (let i = 0; i < n; i++) {
    const at = rng.next();
    let upTo = 0;
    const drawn = shares.find(([, share]) => {
      upTo += share;
      return at < upTo;
    });
    differences.add(drawn?.[0] ?? 0);
  }
  return differences.units();
}

const powerAt = (shares: Shares, n: number, margin: number) => {
  let found = 0;
  for (let seed = 0; seed < 300; seed++)
    if (meanLossRuledOut({ units: drawn(shares, n, seed), range: 1, margin, alpha: ALPHA }))
      found++;
  return found / 300;
};

describe("at a margin of 0", () => {
  // Rare large losses: without one in the sample every change is a gain, and a test of signs is sure.
  it.each([
    [100, 0.02, 0.02],
    [60, 0.02, 0.03],
    [200, 0.01, 0.01],
  ])(
    "%i rows, gains of %d and rare losses with a mean of 0 or less: wrong at most half of alpha",
    (n, gain, share) => {
      let wrong = 0;
      for (let losses = 0; losses <= n; losses++) {
        const units = DifferenceCounts.of(
          Array.from({ length: n }, (_, i) => (i < losses ? gain - 1 : gain)),
        ).units();
        if (meanLossPValue({ units, range: 1, margin: 0 }) <= ALPHA)
          wrong += Math.exp(logBinomialPmf(losses, n, share));
      }
      expect(gain * (1 - share) + (gain - 1) * share).toBeLessThanOrEqual(1e-12);
      expect(wrong).toBeLessThanOrEqual(ALPHA / 2);
      expect(Math.exp(logBinomialPmf(0, n, share)), "no loss drawn").toBeGreaterThan(0.13);
    },
  );

  it("the p-value is the level at which the loss is ruled out", () => {
    const units = drawn([[1, 0.3]], 40, 1);
    const p = meanLossPValue({ units, range: 1, margin: 0 });
    expect(meanLossRuledOut({ units, range: 1, margin: 0, alpha: p * 1.001 })).toBe(true);
    expect(meanLossRuledOut({ units, range: 1, margin: 0, alpha: p * 0.999 })).toBe(false);
  });

  it("shows the smallest mean with the power asked for", () => {
    const shares: Shares = [
      [0.1, 0.5],
      [-0.1, 0.5],
    ];
    const least = smallestMeanShown({ units: drawn(shares, 200, 1), range: 1, alpha: ALPHA }) ?? 0;
    const moved = shares.map(([change, share]) => [change + least, share] as const);
    expect(powerAt(moved, 200, 0)).toBeGreaterThan(0.7);
    expect(powerAt(moved, 100, 0)).toBeLessThan(0.6);
  });
});

describe("unitsToRuleOut", () => {
  it.each<[string, number, Shares]>([
    [
      "one in ten half a reward up, one in ten down",
      0.05,
      [
        [0.5, 0.1],
        [-0.5, 0.1],
      ],
    ],
    ["one in a hundred loses everything", 0.05, [[-1, 0.01]]],
    [
      "one in fifty each way",
      0.05,
      [
        [1, 0.02],
        [-1, 0.02],
      ],
    ],
    [
      "three in ten gain, one in ten loses, no margin",
      0,
      [
        [1, 0.3],
        [-1, 0.1],
      ],
    ],
  ])(
    "%s: the advised number has a power of about 80 %%, half of it far less",
    (_, margin, shares) => {
      const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
      const units = unitsOf([...shares, [0, rest]]);
      const n = unitsToRuleOut({ units, range: 1, margin, alpha: ALPHA }) as number;
      expect(powerAt(shares, n, margin)).toBeGreaterThan(0.74);
      expect(powerAt(shares, n, margin)).toBeLessThan(0.93);
      expect(powerAt(shares, Math.round(n / 2), margin)).toBeLessThan(0.6);
    },
  );

  it("is undefined where the mean loss is as large as the margin", () => {
    const units = unitsOf([
      [-1, 0.05],
      [0, 0.95],
    ]);
    expect(unitsToRuleOut({ units, range: 1, margin: 0.05, alpha: ALPHA })).toBeUndefined();
  });
});
