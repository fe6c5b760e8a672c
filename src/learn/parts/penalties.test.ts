/** Estimators of the KL against the exact one: every expectation is taken by enumeration. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KlEstimator } from "../../engine/loss.ts";
import { klEstimate, klEstimateGraph } from "../../engine/loss-graph.ts";
import { gradients } from "../../graph/gradients.ts";
import { differences, interpret } from "../../graph/interpret.ts";
import { sum } from "../../graph/ops/reduce.ts";
import { input, type Tensor } from "../../graph/tensor.ts";
import { type KlControl, nextCoefficient, startCoefficient } from "./penalties.ts";

const KINDS: readonly KlEstimator[] = ["k1", "k2", "k3"];

function softmax(logits: readonly number[]): number[] {
  const weights = logits.map((x) => Math.exp(x));
  const all = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / all);
}

const exact = (p: readonly number[], q: readonly number[]) =>
  p.reduce((total, x, i) => total + x * Math.log(x / (q[i] as number)), 0);

/** The mean over all outcomes, each with its probability under the policy. */
const expected = (kind: KlEstimator, p: readonly number[], q: readonly number[]) =>
  p.reduce((total, x, i) => total + x * klEstimate(kind, Math.log(x), Math.log(q[i] as number)), 0);

const distribution = (size: number) =>
  fc
    .array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: size, maxLength: size })
    .map(softmax);

test("the reference's number: KL([0.9, 0.1] ‖ [0.5, 0.5]) = 0.368", () => {
  expect(exact([0.9, 0.1], [0.5, 0.5])).toBeCloseTo(0.368, 3);
  expect(expected("k1", [0.9, 0.1], [0.5, 0.5])).toBeCloseTo(0.368064, 6);
  expect(expected("k3", [0.9, 0.1], [0.5, 0.5])).toBeCloseTo(0.368064, 6);
});

test("each estimator is its formula, with d = log π_ref − log π", () => {
  // d = 0.5.
  expect(klEstimate("k1", -1.5, -1)).toBeCloseTo(-0.5, 12);
  expect(klEstimate("k2", -1.5, -1)).toBeCloseTo(0.125, 12);
  expect(klEstimate("k3", -1.5, -1)).toBeCloseTo(0.14872127070012817, 12);
  for (const kind of KINDS) expect(klEstimate(kind, -2, -2)).toBeCloseTo(0, 15);
});

test("k1 and k3 are unbiased on any two distributions; k2 is not", () => {
  fc.assert(
    fc.property(distribution(6), distribution(6), (p, q) => {
      const kl = exact(p, q);
      expect(kl).toBeGreaterThanOrEqual(-1e-12);
      expect(expected("k1", p, q)).toBeCloseTo(kl, 10);
      expect(expected("k3", p, q)).toBeCloseTo(kl, 10);
    }),
    { seed: 7, numRuns: 200 },
  );
  const [p, q] = [softmax([2, 1, 0]), softmax([0, 0, 0])];
  expect(Math.abs(expected("k2", p, q) - exact(p, q))).toBeGreaterThan(0.01);
});

test("k2 is right to second order: half as far apart, its error is at most a fifth", () => {
  const error = (shift: number) => {
    const [p, q] = [softmax([1, 0, -1]), softmax([1 - shift, shift, -1])];
    return Math.abs(expected("k2", p, q) - exact(p, q));
  };
  expect(error(0.05)).toBeLessThan(error(0.1) / 5);
});

test("k3 is never below 0, whatever single token is seen, and k1 can be", () => {
  fc.assert(
    fc.property(
      fc.double({ min: -30, max: 0, noNaN: true }),
      fc.double({ min: -30, max: 0, noNaN: true }),
      (logprob, reference) => {
        // The last digit of e^d is lost where d is small.
        expect(klEstimate("k3", logprob, reference)).toBeGreaterThanOrEqual(-1e-15);
        expect(klEstimate("k2", logprob, reference)).toBeGreaterThanOrEqual(0);
      },
    ),
    { seed: 7 },
  );
  expect(klEstimate("k1", -2, -1)).toBeLessThan(0);
});

describe.each(KINDS)("%s in the graph", (kind) => {
  const [logprobs, reference] = [input("logprobs", [5]), input("reference", [5])];
  const feeds = new Map<Tensor, ArrayLike<number>>([
    [logprobs, [-0.1, -1, -2.5, -3, -0.7]],
    [reference, [-0.3, -1, -2, -4.5, -0.71]],
  ]);
  const terms = klEstimateGraph(kind, logprobs, reference);

  test("has the same values", () => {
    const [a, b] = [feeds.get(logprobs) ?? [], feeds.get(reference) ?? []];
    interpret([terms], feeds)[0]?.data.forEach((x, i) => {
      expect(x).toBeCloseTo(klEstimate(kind, a[i] as number, b[i] as number), 12);
    });
  });

  test("has the gradient that central differences measure", () => {
    const loss = sum(terms);
    const [slope] = interpret(gradients(loss, [logprobs]), feeds);
    differences(loss, logprobs, feeds).forEach((x, i) => {
      expect(slope?.data[i]).toBeCloseTo(x, 8);
    });
  });
});

describe("the coefficient", () => {
  const control: KlControl = {
    ...{ mode: "adaptive", coefficient: 0.1, estimator: "k3", target: 2, horizon: 1000 },
  };

  test("starts where it is told to, and at 0 without a penalty", () => {
    expect(startCoefficient(control)).toBe(0.1);
    expect(startCoefficient({ ...control, mode: "fixed" })).toBe(0.1);
    expect(startCoefficient({ ...control, mode: "none" })).toBe(0);
  });

  test("stays when it is not adaptive, and at the target", () => {
    for (const mode of ["fixed", "none"] as const) {
      expect(nextCoefficient({ ...control, mode }, 0.1, 50, 64)).toBe(0.1);
    }
    expect(nextCoefficient(control, 0.1, 2, 64)).toBe(0.1);
  });

  test("rises while the policy is too far away, falls while it is near", () => {
    expect(nextCoefficient(control, 0.1, 2.1, 64)).toBeGreaterThan(0.1);
    expect(nextCoefficient(control, 0.1, 1.9, 64)).toBeLessThan(0.1);
    // 5 % too far: 0.1 · (1 + 0.05 · 64 / 1000).
    expect(nextCoefficient(control, 0.1, 2.1, 64)).toBeCloseTo(0.10032, 12);
  });

  test("moves by a fifth of completions / horizon at most, however wrong it is", () => {
    const [up, down] = [0.1 * (1 + 0.2 * 0.064), 0.1 * (1 - 0.2 * 0.064)];
    expect(nextCoefficient(control, 0.1, 1e9, 64)).toBeCloseTo(up, 12);
    expect(nextCoefficient(control, 0.1, 2.4, 64)).toBeCloseTo(up, 12);
    expect(nextCoefficient(control, 0.1, 0, 64)).toBeCloseTo(down, 12);
    expect(nextCoefficient(control, 0.1, -5, 64)).toBeCloseTo(down, 12);
  });

  test("is never below 0, even where a batch is larger than the horizon", () => {
    const small = { ...control, horizon: 10 };
    expect(nextCoefficient(small, 0.1, 0, 256)).toBeCloseTo(0.08, 12);
    expect(nextCoefficient(small, 0.1, 1e9, 256)).toBeCloseTo(0.12, 12);
  });

  test("settles where the KL is the target, when the KL answers to it", () => {
    let coefficient = 0.01;
    // A policy whose KL is 0.4 / coefficient: the target of 2 wants 0.2.
    for (let step = 0; step < 2000; step++) {
      coefficient = nextCoefficient(control, coefficient, 0.4 / coefficient, 64);
    }
    expect(coefficient).toBeCloseTo(0.2, 3);
  });
});
