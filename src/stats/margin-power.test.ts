import { describe, expect, it } from "vitest";
import { logBinomialPmf } from "./binomial.ts";
import { lossRuledOut } from "./margin.ts";
import { pairsToRuleOut, powerOfMargin } from "./margin-power.ts";

/** Counted over every outcome that matters. */
function powerCounted(gained: number, lost: number, n: number, margin: number): number {
  let power = 0;
  for (let gains = 0; gains <= n; gains++) {
    const chance = Math.exp(logBinomialPmf(gains, n, gained));
    if (chance < 1e-5) continue;
    for (let losses = 0; losses <= n - gains; losses++) {
      const both = chance * Math.exp(logBinomialPmf(losses, n - gains, lost / (1 - gained)));
      if (both > 1e-6 && lossRuledOut(gains, losses, n, margin, 0.05)) power += both;
    }
  }
  return power;
}

describe("powerOfMargin", () => {
  it.each([
    [0.02, 0.01, 120, 0.05],
    [0, 0.02, 150, 0.06],
    [0.08, 0.07, 300, 0.06],
  ])("%d gained and %d lost of %i: agrees with every outcome", (gained, lost, n, margin) => {
    const power = powerOfMargin({ gained, lost, margin, alpha: 0.05 }, n);
    expect(power).toBeCloseTo(powerCounted(gained, lost, n, margin), 1);
  });
});

describe("pairsToRuleOut", () => {
  it.each([
    ["one each way of 60", 1 / 60, 1 / 60, 0.05],
    ["one lost of 60", 0, 1 / 60, 0.05],
    ["8 % gained and 7 % lost", 0.08, 0.07, 0.06],
  ])("%s: about 80 % power, and far less with two thirds of it", (_, gained, lost, margin) => {
    const n = pairsToRuleOut({ gained, lost, margin, alpha: 0.05 }) as number;
    expect(powerCounted(gained, lost, n, margin)).toBeGreaterThan(0.77);
    expect(powerCounted(gained, lost, n, margin)).toBeLessThan(0.9);
    expect(powerCounted(gained, lost, Math.round((2 * n) / 3), margin)).toBeLessThan(0.72);
  });

  it("is undefined where the loss is as large as the margin", () => {
    expect(pairsToRuleOut({ gained: 0, lost: 0.02, margin: 0.02, alpha: 0.05 })).toBeUndefined();
  });
});
