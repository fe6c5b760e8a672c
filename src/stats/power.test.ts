import { describe, expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import { drawBinomial, logBinomialPmf } from "./binomial.ts";
import { mcnemarExact } from "./mcnemar.ts";
import { minimumDetectableEffect, pairsForEffect } from "./power.ts";

describe("minimumDetectableEffect", () => {
  it("is (z + z) sqrt(variance / n)", () => {
    // 1.9599639845400543 + 0.8416212335729142, from tables.
    expect(minimumDetectableEffect({ n: 400, variance: 0.25, alpha: 0.05 })).toBeCloseTo(
      (2.8015852181129683 * 0.5) / 20,
      13,
    );
    // 2.575829303548901 + 1.2815515655446004
    expect(
      minimumDetectableEffect({ n: 100, discordantShare: 0.36, alpha: 0.01, power: 0.9 }),
    ).toBeCloseTo((3.857380869093501 * 0.6) / 10, 13);
  });

  it("asks for an effect that brings the exact test enough flips, with the power it says", () => {
    for (const n of [20, 40, 200]) {
      const effect = minimumDetectableEffect({ n, discordantShare: 0, alpha: 0.05 }) as number;
      let power = 0;
      for (let k = 6; k <= n; k++) power += Math.exp(logBinomialPmf(k, n, effect));
      expect(power).toBeCloseTo(0.8, 6);
    }
  });

  it("has no answer where no effect could be found", () => {
    expect(minimumDetectableEffect({ n: 5, discordantShare: 0.2, alpha: 0.05 })).toBeUndefined();
    expect(minimumDetectableEffect({ n: 200, variance: 0, alpha: 0.05 })).toBeUndefined();
  });

  it("gives the exact test about the power it says", () => {
    const n = 4000;
    const discordantShare = 0.2;
    const effect = minimumDetectableEffect({ n, discordantShare, alpha: 0.05 }) as number;
    let found = 0;
    for (let i = 0; i < 2000; i++) {
      const rng = rngAt("power", i);
      const discordant = drawBinomial(n, discordantShare, rng);
      const gained = drawBinomial(discordant, 0.5 + effect / discordantShare / 2, rng);
      if (mcnemarExact(gained, discordant - gained) <= 0.05) found++;
    }
    expect(found / 2000).toBeGreaterThan(0.76);
    expect(found / 2000).toBeLessThan(0.84);
  });

  it("has no answer without pairs and refuses nonsense", () => {
    expect(minimumDetectableEffect({ n: 0, variance: 1, alpha: 0.05 })).toBeUndefined();
    expect(() => minimumDetectableEffect({ n: 9, variance: -1, alpha: 0.05 })).toThrow(RangeError);
    expect(() => minimumDetectableEffect({ n: 9, variance: 1, alpha: 0 })).toThrow(RangeError);
    expect(() => minimumDetectableEffect({ n: 9, discordantShare: 2, alpha: 0.1 })).toThrow(
      RangeError,
    );
  });
});

/** The exact test's own chance of a verdict: each pair is gained, lost or left, with these chances. */
function exactPower(n: number, gain: number, loss: number, alpha: number): number {
  const flip = gain + loss;
  let power = 0;
  for (let flips = 0; flips <= n; flips++) {
    const chance = Math.exp(logBinomialPmf(flips, n, flip));
    if (chance < 1e-12) continue;
    for (let gained = 0; gained <= flips; gained++) {
      if (mcnemarExact(gained, flips - gained) > alpha) continue;
      const split = loss === 0 ? Number(gained === flips) : pmf(gained, flips, gain / flip);
      power += chance * split;
    }
  }
  return power;
}

const pmf = (k: number, n: number, p: number) => Math.exp(logBinomialPmf(k, n, p));

describe("pairsForEffect", () => {
  it("is the first number with the exact power that was asked for, when flips are few and none is lost", () => {
    for (const gain of [3 / 240, 5 / 240]) {
      const n = pairsForEffect({ effect: gain, discordantShare: gain, alpha: 0.05 }) as number;
      expect(exactPower(n, gain, 0, 0.05)).toBeGreaterThanOrEqual(0.8);
      expect(exactPower(n - 1, gain, 0, 0.05)).toBeLessThan(0.8);
    }
  });

  it.each([
    [4, 1],
    [8, 4],
    [20, 12],
  ])("has nearly that power with %i gained and %i lost of 240", (gained, lost) => {
    const [gain, loss] = [gained / 240, lost / 240];
    const question = { effect: gain - loss, discordantShare: gain + loss, alpha: 0.05 };
    const power = exactPower(pairsForEffect(question) as number, gain, loss, 0.05);
    expect(power).toBeGreaterThan(0.76);
    expect(power).toBeLessThan(0.82);
  });

  it("is the inverse of the effect that is needed", () => {
    for (const n of [7, 100, 4321]) {
      const question = { variance: 0.3, alpha: 0.01, power: 0.9 };
      const effect = minimumDetectableEffect({ ...question, n }) as number;
      expect(pairsForEffect({ ...question, effect: effect * (1 + 1e-9) })).toBe(n);
    }
  });

  it("has no answer where no number is enough", () => {
    expect(pairsForEffect({ effect: 0, variance: 1, alpha: 0.05 })).toBeUndefined();
    expect(pairsForEffect({ effect: 1e-9, variance: 1, alpha: 0.05 })).toBeUndefined();
    expect(pairsForEffect({ effect: 0.1, variance: 0, alpha: 0.05 })).toBeUndefined();
  });
});
