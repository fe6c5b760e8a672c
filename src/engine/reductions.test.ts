/** Each reduction's weights on one worked batch, whole and in parts. */

import { describe, expect, test } from "vitest";
import { type BatchSize, weightOf } from "./collate.ts";
import { REDUCTIONS, type Reduction } from "./loss.ts";

/** Three rows of 1, 2 and 5 learned tokens; a completion may have 10. */
const LENGTHS = [1, 2, 5];
const WHOLE: BatchSize = {
  rows: 3,
  tokens: 8,
  microBatchTokens: 8,
  microBatches: 1,
  maxTokens: 10,
};

const weights = (kind: Reduction, size = WHOLE) =>
  LENGTHS.map((length) => weightOf(kind, length, size));

test.each([
  ["sequences", [1 / 3, 1 / 3, 1 / 3]],
  ["grpo", [1 / 3, 1 / 6, 1 / 15]],
  ["bnpo", [1 / 8, 1 / 8, 1 / 8]],
  ["dapo", [1 / 8, 1 / 8, 1 / 8]],
  ["dr_grpo", [1 / 30, 1 / 30, 1 / 30]],
] as const)("%s", (kind, wanted) => {
  expect(weights(kind)).toEqual(wanted);
});

test("every kind has been looked at, and a row without tokens weighs nothing in any", () => {
  expect(REDUCTIONS).toEqual(["sequences", "grpo", "bnpo", "dapo", "dr_grpo"]);
  for (const kind of REDUCTIONS) expect(weightOf(kind, 0, WHOLE)).toBe(0);
});

test("the same loss on every token becomes that loss where the reduction is a mean", () => {
  const whole = (kind: Reduction) =>
    weights(kind).reduce((sum, weight, i) => sum + weight * (LENGTHS[i] as number), 0);
  for (const kind of ["grpo", "bnpo", "dapo"] as const) expect(whole(kind)).toBeCloseTo(1, 12);
  // The mean of the lengths; the share of all tokens that there could have been.
  expect(whole("sequences")).toBeCloseTo(8 / 3, 12);
  expect(whole("dr_grpo")).toBeCloseTo(8 / 30, 12);
});

describe("in two parts, of two rows and of one", () => {
  const parts: readonly { size: BatchSize; lengths: readonly number[] }[] = [
    { size: { ...WHOLE, microBatches: 2, microBatchTokens: 3 }, lengths: [1, 2] },
    { size: { ...WHOLE, microBatches: 2, microBatchTokens: 5 }, lengths: [5] },
  ];
  const all = (kind: Reduction) =>
    parts.flatMap(({ size, lengths }) => lengths.map((length) => weightOf(kind, length, size)));

  test.each(["sequences", "grpo", "dapo", "dr_grpo"] as const)(
    "%s weighs every token as in one",
    (kind) => {
      expect(all(kind)).toEqual(weights(kind));
    },
  );

  test("dapo's weights add up to 1 over all tokens of all parts", () => {
    const total = all("dapo").reduce((sum, x, i) => sum + x * (LENGTHS[i] as number), 0);
    expect(total).toBeCloseTo(1, 12);
  });

  test("bnpo differs: it is the mean of the parts' means, so tokens of small parts weigh more", () => {
    expect(all("bnpo")).toEqual([1 / 6, 1 / 6, 1 / 10]);
    expect(all("bnpo")).not.toEqual(weights("bnpo"));
    const total = all("bnpo").reduce((sum, x, i) => sum + x * (LENGTHS[i] as number), 0);
    expect(total).toBeCloseTo(1, 12);
  });
});
