import { describe, expect, it } from "vitest";
import { logBinomialPmf } from "./binomial.ts";
import {
  binomialAtMost,
  flipInterval,
  gainRuledOut,
  lossRuledOut,
  marginRuledOut,
  marginStatistic,
  smallestLossRuledOut,
} from "./margin.ts";

type Rule = (gained: number, lost: number, n: number, margin: number, alpha: number) => boolean;

/** Calls `visit` with every outcome of n pairs and its multinomial probability. */
function outcomes(
  n: number,
  margin: number,
  share: number,
  visit: (gained: number, lost: number, chance: number) => void,
): void {
  for (let gained = 0; gained <= n; gained++) {
    const chance = Math.exp(logBinomialPmf(gained, n, share));
    if (chance < 1e-12) continue;
    const losing = (share + margin) / (1 - share);
    for (let lost = 0; lost <= n - gained; lost++)
      visit(gained, lost, chance * Math.exp(logBinomialPmf(lost, n - gained, losing)));
  }
}

function wrongRate(rule: Rule, n: number, margin: number, share: number): number {
  let sum = 0;
  outcomes(n, margin, share, (gained, lost, chance) => {
    if (chance > 1e-12 && rule(gained, lost, n, margin, 0.05)) sum += chance;
  });
  return sum;
}

const score: Rule = (gained, lost, ...rest) => marginRuledOut(lost, gained, ...rest);

/** Tango's statistic with the constrained likelihood maximised by search, not by formula. */
function searched(lost: number, gained: number, n: number, margin: number): number {
  const likelihood = (share: number) =>
    (lost === 0 ? 0 : lost * Math.log(share + margin)) +
    (gained === 0 ? 0 : gained * Math.log(share)) +
    (n - gained - lost === 0 ? 0 : (n - gained - lost) * Math.log(1 - 2 * share - margin));
  let [low, high] = [0, (1 - margin) / 2];
  for (let i = 0; i < 200; i++) {
    const [one, two] = [low + (high - low) / 3, high - (high - low) / 3];
    if (likelihood(one) < likelihood(two)) low = one;
    else high = two;
  }
  const share = (low + high) / 2;
  return (lost - gained - n * margin) / Math.sqrt(n * (2 * share + margin - margin * margin));
}

describe("lossRuledOut", () => {
  it("is wrong at most half of alpha of the times at the margin, whatever the share of gains", () => {
    let [exact, approximate] = [0, 0];
    for (const n of [30, 60])
      for (const margin of [0.05, 0.1, 0.2])
        for (const share of [0, 0.01, 0.07, 0.25]) {
          exact = Math.max(exact, wrongRate(lossRuledOut, n, margin, share));
          approximate = Math.max(approximate, wrongRate(score, n, margin, share));
        }
    expect(exact).toBeLessThanOrEqual(0.025);
    expect(exact).toBeGreaterThan(0.02);
    expect(approximate, "the score test alone is not exact").toBeGreaterThan(0.0265);
  }, 30_000);

  it.each([
    [0, 0, 186, 0.02],
    [0, 0, 187, 0.02],
    [1, 1, 90, 0.05],
    [1, 1, 91, 0.05],
    [5, 5, 141, 0.05],
    [5, 5, 143, 0.05],
    [12, 3, 60, 0.05],
  ])(
    "%i gained and %i lost of %i against %d: as enumeration on a fine grid",
    (gained, lost, n, margin) => {
      const seen = searched(lost, gained, n, margin);
      expect(marginStatistic(lost, gained, n, margin)).toBeCloseTo(seen, 6);
      let largest = 0;
      for (let share = 0; share <= 0.3; share += 0.0025) {
        let sum = 0;
        outcomes(n, margin, share, (g, l, chance) => {
          if (chance > 1e-9 && marginStatistic(l, g, n, margin) <= seen + 1e-7) sum += chance;
        });
        largest = Math.max(largest, sum);
      }
      // The bound on the chance of a gain costs 2 % of the level, and may leave out the largest.
      const decided = lossRuledOut(gained, lost, n, margin, 0.05);
      if (largest <= 0.0245) expect(decided).toBe(true);
      if (decided) expect(largest).toBeLessThan(0.026);
    },
  );

  it("is the score test where many pairs flip, and both agree about there", () => {
    expect(lossRuledOut(60, 60, 2000, 0.02, 0.05)).toBe(score(60, 60, 2000, 0.02, 0.05));
    const smallest = (rule: Rule) => {
      let n = 100;
      while (!rule(45, 45, n, 0.05, 0.05)) n++;
      return n;
    };
    expect(Math.abs(smallest(lossRuledOut) - smallest(score))).toBeLessThan(8);
  });

  it("rules out nothing without pairs or without a margin, and more than everything always", () => {
    expect(lossRuledOut(0, 0, 0, 0.1, 0.05)).toBe(false);
    expect(lossRuledOut(9, 0, 10, 0, 0.05)).toBe(false);
    expect(lossRuledOut(0, 3, 10, 1.5, 0.05)).toBe(true);
  });
});

describe("smallestLossRuledOut", () => {
  it("is where the test changes its answer", () => {
    const ruledOut = (margin: number) => lossRuledOut(4, 2, 300, margin, 0.05);
    const bound = smallestLossRuledOut(ruledOut) as number;
    expect(ruledOut(bound)).toBe(true);
    expect(ruledOut(bound - 0.0005)).toBe(false);
  });

  it("is undefined where nothing is ruled out", () => {
    expect(smallestLossRuledOut(() => false)).toBeUndefined();
  });
});

describe("flipInterval", () => {
  it("ends at the bounds of the tests where it contains 0", () => {
    const { low, high } = flipInterval(3, 2, 100, 0.95) as { low: number; high: number };
    expect(-low).toBeCloseTo(
      smallestLossRuledOut((margin) => lossRuledOut(3, 2, 100, margin, 0.05)) as number,
      4,
    );
    expect(high).toBeCloseTo(
      smallestLossRuledOut((margin) => lossRuledOut(2, 3, 100, margin, 0.05)) as number,
      4,
    );
  });

  it("excludes 0 where the exact test is significant, and is undefined without pairs", () => {
    expect(flipInterval(8, 0, 30, 0.95)?.low).toBeGreaterThan(0);
    expect(flipInterval(0, 8, 30, 0.95)?.high).toBeLessThan(0);
    expect(flipInterval(20, 0, 20, 0.95)?.high).toBe(1);
    expect(flipInterval(0, 0, 0, 0.95)).toBeUndefined();
  });

  it("misses the true difference in at most 5 % of samples", () => {
    const n = 12;
    const outcomes = [];
    for (let gained = 0; gained <= n; gained++)
      for (let lost = 0; lost <= n - gained; lost++)
        outcomes.push({ gained, lost, ...flipInterval(gained, lost, n, 0.95) });
    for (const [gain, loss] of [
      [0.1, 0.1],
      [0.3, 0.05],
      [0.02, 0.2],
      [0.6, 0.3],
      [0.5, 0],
    ] as const) {
      const missed = outcomes.filter(
        ({ low = 0, high = 0 }) => gain - loss < low - 1e-5 || gain - loss > high + 1e-5,
      );
      const chance = missed.reduce(
        (sum, { gained, lost }) =>
          sum +
          Math.exp(
            logBinomialPmf(gained, n, gain) + logBinomialPmf(lost, n - gained, loss / (1 - gain)),
          ),
        0,
      );
      expect(chance, `${gain} gained, ${loss} lost`).toBeLessThanOrEqual(0.05);
    }
  });
});

describe("binomialAtMost", () => {
  it.each([
    [3, 10, 0.2],
    [9, 10, 0.2],
    [0, 50, 0.01],
    [40, 50, 0.5],
    [12, 300, 0.04],
  ])("P(X <= %i) of %i at %d is the sum of the probabilities", (k, n, p) => {
    let sum = 0;
    for (let j = 0; j <= k; j++) sum += Math.exp(logBinomialPmf(j, n, p));
    expect(binomialAtMost(k, n, p)).toBeCloseTo(sum, 12);
  });
});

describe("marginRuledOut", () => {
  it("without flips the bound is z² / (n + z²)", () => {
    const z2 = 1.959963984540054 ** 2;
    for (const n of [5, 40, 200]) {
      const bound = z2 / (n + z2);
      expect(marginRuledOut(0, 0, n, bound * 1.001, 0.05)).toBe(true);
      expect(marginRuledOut(0, 0, n, bound * 0.999, 0.05)).toBe(false);
    }
  });

  it("nothing is ruled out by nothing", () => {
    expect(marginRuledOut(0, 0, 0, 0.1, 0.05)).toBe(false);
  });

  /** With gains alone at exactly the margin, how often is the margin wrongly ruled out? */
  function wrongRateOfGains(rule: Rule, n: number, margin: number): number {
    let sum = 0;
    for (let gained = 0; gained <= n; gained++) {
      if (rule(gained, 0, n, margin, 0.05)) sum += Math.exp(logBinomialPmf(gained, n, margin));
    }
    return sum;
  }

  it("gains alone, exactly at the margin: its level is only about right, that of gainRuledOut holds", () => {
    let [approximate, exact] = [0, 0];
    for (const n of [5, 10, 20, 40, 60])
      for (const margin of [0.05, 0.1, 0.3]) {
        approximate = Math.max(approximate, wrongRateOfGains(marginRuledOut, n, margin));
        exact = Math.max(exact, wrongRateOfGains(gainRuledOut, n, margin));
      }
    expect(approximate).toBeGreaterThan(0.028);
    expect(approximate).toBeLessThan(0.06);
    expect(exact).toBeLessThanOrEqual(0.025);
    expect(exact).toBeGreaterThan(0.02);
  });

  it("is not fooled into never ruling anything out", () => {
    expect(marginRuledOut(10, 10, 200, 0.1, 0.05)).toBe(true);
    expect(marginRuledOut(20, 0, 200, 0.1, 0.05)).toBe(false);
    expect(marginRuledOut(0, 5, 20, 0.01, 0.05)).toBe(true);
  });
});
