/** Baselines against worked examples and the identities that define them. */

import { describe, expect, test } from "vitest";
import {
  allEqual,
  deviation,
  generalisedAdvantages,
  groupAdvantages,
  leaveOneOut,
  mean,
  whitened,
} from "./advantages.ts";

const total = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0);

function expectClose(found: readonly number[], wanted: readonly number[], digits = 12): void {
  expect(found).toHaveLength(wanted.length);
  wanted.forEach((x, i) => {
    expect(found[i]).toBeCloseTo(x, digits);
  });
}

describe("within a group", () => {
  // Mean 2, deviations -2, -1, 0, 3, whose squares add up to 14.
  const REWARDS = [0, 1, 2, 5];

  test.each([
    ["sample", Math.sqrt(14 / 3), [-0.92582, -0.46291, 0, 1.38873]],
    ["population", Math.sqrt(14 / 4), [-1.069045, -0.534522, 0, 1.603567]],
  ] as const)("in units of the %s deviation", (kind, unit, wanted) => {
    expect(deviation(REWARDS, kind)).toBeCloseTo(unit, 12);
    expectClose(groupAdvantages(REWARDS, kind, 0), wanted, 5);
    expectClose(
      groupAdvantages(REWARDS, kind, 1e-4),
      [-2, -1, 0, 3].map((x) => x / (unit + 1e-4)),
    );
  });

  test("or of nothing", () => {
    expectClose(groupAdvantages(REWARDS, "none", 1e-4), [-2, -1, 0, 3]);
  });

  test.each(["sample", "population", "none"] as const)(
    "rewards that are all equal teach nothing, however small the epsilon: %s",
    (kind) => {
      for (const reward of [0, 1, 0.1, 1 / 3]) {
        for (const epsilon of [1e-4, 0]) {
          const rewards = [reward, reward, reward];
          expect(allEqual(rewards)).toBe(true);
          expectClose(groupAdvantages(rewards, kind, epsilon), [0, 0, 0]);
        }
      }
      expectClose(groupAdvantages([3], kind, 1e-4), [0]);
    },
  );

  test("one deviation is that of nobody: a single value has none", () => {
    expect(deviation([3], "sample")).toBe(0);
    expect(deviation([3], "population")).toBe(0);
  });
});

describe("leaving one out", () => {
  test("compares with the mean of the others", () => {
    expectClose(leaveOneOut([1, 0, 0, 1]), [1 - 1 / 3, -2 / 3, -2 / 3, 1 - 1 / 3]);
    expectClose(leaveOneOut([3, 1]), [2, -2]);
  });

  test.each([[[0.3, -1, 7, 2.5]], [[1, 0]], [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]]])(
    "adds up to 0, and is the group's own advantage times n / (n - 1)",
    (rewards) => {
      const found = leaveOneOut(rewards);
      expect(total(found)).toBeCloseTo(0, 12);
      const scale = rewards.length / (rewards.length - 1);
      expectClose(
        found,
        groupAdvantages(rewards, "none", 0).map((x) => scale * x),
      );
    },
  );

  test("alone there is nobody to compare with", () => {
    expect(leaveOneOut([5])).toEqual([0]);
  });
});

describe("generalised advantage estimation", () => {
  const rewards = [0.1, -0.2, 0, 1];
  const values = [0.5, 0.25, -0.5, 0.75];

  test("with λ = 1 and γ = 1 is the return minus the value", () => {
    const ahead = rewards.map((_, t) => total(rewards.slice(t)));
    const { advantages, returns } = generalisedAdvantages(rewards, values, 1, 1);
    expectClose(
      advantages,
      ahead.map((x, t) => x - (values[t] as number)),
    );
    expectClose(returns, ahead);
  });

  test("with λ = 1 and γ < 1 the returns are discounted", () => {
    const { returns } = generalisedAdvantages(rewards, values, 0.9, 1);
    expectClose(
      returns,
      rewards.map((_, t) => total(rewards.slice(t).map((r, k) => 0.9 ** k * r))),
    );
  });

  test.each([1, 0.9])("with λ = 0 is the error of one step, γ = %f", (discount) => {
    const { advantages, returns } = generalisedAdvantages(rewards, values, discount, 0);
    const errors = rewards.map(
      (r, t) => r + discount * (values[t + 1] ?? 0) - (values[t] as number),
    );
    expectClose(advantages, errors);
    expectClose(
      returns,
      errors.map((x, t) => x + (values[t] as number)),
    );
  });

  test("in between weighs later errors by (γλ)ᵏ; a worked example", () => {
    // Errors: 0.1 + 0.25 - 0.5 = -0.15, -0.2 - 0.5 - 0.25 = -0.95, 0.75 + 0.5 = 1.25, 1 - 0.75 = 0.25.
    const { advantages } = generalisedAdvantages(rewards, values, 1, 0.5);
    expectClose(advantages, [-0.28125, -0.2625, 1.375, 0.25]);
  });

  test("nothing is worth anything after the last token", () => {
    expectClose(generalisedAdvantages([1], [0.25], 1, 0.95).advantages, [0.75]);
    expect(generalisedAdvantages([], [], 1, 0.95)).toEqual({ advantages: [], returns: [] });
  });
});

describe("whitening", () => {
  test("gives mean 0 and deviation 1 over all lists together, and keeps their order", () => {
    const found = whitened([[1, 2], [3], [4, 5, 9]]);
    const all = found.flat();
    expect(mean(all)).toBeCloseTo(0, 12);
    expect(deviation(all, "population")).toBeCloseTo(1, 7);
    expect(found.map((list) => list.length)).toEqual([2, 1, 3]);
    // Mean 4, squares 9 + 4 + 1 + 0 + 1 + 25 = 40.
    const unit = Math.sqrt(40 / 6);
    expectClose(
      all,
      [-3, -2, -1, 0, 1, 5].map((x) => x / unit),
      7,
    );
  });

  test("makes nothing of equals", () => {
    expect(whitened([[2, 2], [2]])).toEqual([[0, 0], [0]]);
  });
});
