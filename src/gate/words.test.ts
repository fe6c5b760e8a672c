import { expect, it } from "vitest";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { UNMEASURED } from "./measured.ts";
import { figuresOf, pText, strength } from "./words.ts";

it.each([
  [1, "p = 1"],
  [0.0117, "p = 0.012"],
  [0.0001, "p = 0.0001"],
  [0.00009, "p < 0.0001"],
  [mcnemarExact(2000, 0), "p < 0.0001"],
])("%d is said as %s", (p, words) => {
  expect(pText(p)).toBe(words);
});

const found = (delta: number, p_value: number) => ({
  ...UNMEASURED,
  ...{ delta, p_value, ci: { low: delta - 0.1, high: delta + 0.1, confidence: 0.95 } },
});

it("never says that p is 0", () => {
  expect(mcnemarExact(2000, 0)).toBe(0);
  expect(figuresOf(found(0.5, 0))).toBe("+0.5000 (95 % interval +0.4000 to +0.6000, p < 0.0001)");
});

it.each([
  [0.004, 0.0004, "a very small difference, very strong evidence"],
  [-0.04, 0.03, "a small difference, evidence"],
  [0.1, 0.004, "a medium difference, strong evidence"],
  [0.3, 0.15, "a large difference, weak evidence"],
])("a difference of %d with p %d: %s", (delta, p, words) => {
  expect(strength(found(delta, p))).toBe(words);
});

it("a mean reward has no scale, so only the certainty is said", () => {
  expect(strength({ ...found(3, 0.004), metric: "mean reward" })).toBe("strong evidence");
});
