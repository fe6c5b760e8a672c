/** The pieces of the preference losses, in float64 and at their edges. */

import { describe, expect, test } from "vitest";
import { gradients } from "../../graph/gradients.ts";
import { differences, interpret } from "../../graph/interpret.ts";
import { sum } from "../../graph/ops/reduce.ts";
import { Session } from "../../graph/session.ts";
import { input, type Tensor } from "../../graph/tensor.ts";
import type { LossInputs } from "../algorithm.ts";
import {
  completionLogprobs,
  logOneMinusExp,
  logRatios,
  logSigmoid,
  meanLogprobs,
  pairsOf,
  pairWeights,
  watchPairs,
} from "./preference.ts";

const valuesOf = (x: Tensor, feeds: ReadonlyMap<Tensor, ArrayLike<number>>) => [
  ...(interpret([x], feeds)[0]?.data ?? []),
];

/** A function of each number by itself: its values and its slopes. */
function along(f: (x: Tensor) => Tensor, points: readonly number[]) {
  const x = input("x", [points.length]);
  const feeds = new Map<Tensor, ArrayLike<number>>([[x, points]]);
  const loss = sum(f(x));
  return {
    values: valuesOf(f(x), feeds),
    slopes: [...(interpret(gradients(loss, [x]), feeds)[0]?.data ?? [])],
    measured: [...differences(loss, x, feeds)],
  };
}

describe("log σ", () => {
  const POINTS = [-30, -3, -0.5, 0.5, 3, 30];

  test("is what it says, and does not overflow", () => {
    const { values } = along(logSigmoid, [...POINTS, 0, 1000, -1000]);
    POINTS.forEach((x, i) => {
      expect(values[i]).toBeCloseTo(-Math.log1p(Math.exp(-x)), 9);
    });
    expect(values[6]).toBe(-Math.LN2);
    expect(values.slice(7)).toEqual([0, -1000]);
  });

  test("has the slope σ(−x), at 0 as well: there every preference loss begins", () => {
    const points = [...POINTS, 0, 1000, -1000];
    const { slopes, measured } = along(logSigmoid, points);
    points.forEach((x, i) => {
      expect(slopes[i]).toBeCloseTo(1 / (1 + Math.exp(x)), 9);
      expect(slopes[i]).toBeCloseTo(measured[i] as number, 5);
    });
  });

  test("also in the runtime's float32", async () => {
    const x = input("x", [4]);
    const y = logSigmoid(x);
    const [slope] = gradients(sum(y), [x]) as [Tensor];
    const session = await Session.create({ y, slope });
    const run = await session.run({ x: Float32Array.of(0, 100, -100, 1) });
    await session.close();
    expect(run.y?.[0]).toBeCloseTo(-Math.LN2, 6);
    expect(run.y?.[2]).toBeCloseTo(-100, 4);
    expect(Array.from(run.slope as Float32Array)).toEqual([
      0.5,
      expect.closeTo(0, 6),
      expect.closeTo(1, 6),
      expect.closeTo(0.268941, 5),
    ]);
  });
});

describe("log(1 − eᵖ)", () => {
  test("is what it says", () => {
    const points = [-0.001, -0.1, -0.7, -2, -20];
    const { values, slopes } = along(logOneMinusExp, points);
    points.forEach((p, i) => {
      expect(values[i]).toBeCloseTo(Math.log(-Math.expm1(p)), 9);
      expect(slopes[i]).toBeCloseTo(Math.exp(p) / Math.expm1(p), 9);
    });
  });

  test("stays finite where the completion is certain, and has no slope there", () => {
    const { values, slopes } = along(logOneMinusExp, [0, -1e-12, -1e-7]);
    for (const value of values) expect(value).toBeCloseTo(Math.log(1e-6), 4);
    for (const slope of slopes) expect(slope).toBeCloseTo(0, 12);
  });

  test("and where it is impossible", () => {
    expect(along(logOneMinusExp, [-800]).values).toEqual([0]);
  });
});

describe("rows and pairs", () => {
  const shape = [4, 3];
  const leaves = {
    logprobs: input("logprobs", shape),
    mask: input("mask", shape),
    weights: input("weights", shape),
    rowWeights: input("row_weights", [4]),
    reference: input("reference", shape),
  };
  const shown: LossInputs = {
    ...{ rows: 4, ...leaves },
    column: () => leaves.reference,
    values: () => leaves.logprobs,
  };
  const feeds = new Map<Tensor, ArrayLike<number>>([
    [leaves.logprobs, [-1, -2, -9, -9, -3, -9, -4, -5, -6, -9, -9, -9]],
    [leaves.mask, [1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0]],
    [leaves.weights, new Float64Array(12)],
    [leaves.rowWeights, [0.5, 0.5, 0, 0]],
    [leaves.reference, [-1.5, -2, 0, 0, -2, 0, -4, -5, -5, 0, 0, 0]],
  ]);
  const of = (x: Tensor) => valuesOf(x, feeds);

  test("chosen and rejected take turns", () => {
    const rows = input("rows", [6]);
    const { chosen, rejected } = pairsOf(rows);
    const fed = new Map([[rows, [1, 2, 3, 4, 5, 6]]]);
    expect(valuesOf(chosen, fed)).toEqual([1, 3, 5]);
    expect(valuesOf(rejected, fed)).toEqual([2, 4, 6]);
  });

  test("log-probs are sums or means over the mask; a row without tokens has 0", () => {
    expect(of(completionLogprobs(shown))).toEqual([-3, -3, -15, 0]);
    expect(of(meanLogprobs(shown))).toEqual([-1.5, -3, -5, 0]);
  });

  test("log-ratios are against the reference, whole or per token", () => {
    expect(of(logRatios(shown))).toEqual([0.5, -1, -1, 0]);
    expect(of(logRatios(shown, true))).toEqual([0.25, -1, -1 / 3, 0]);
  });

  test("a pair weighs 1 / pairs, and nothing if it only fills up", () => {
    expect(of(pairWeights(shown))).toEqual([1, 0]);
  });

  test("what is watched counts only pairs that weigh something", () => {
    const { sums = {} } = watchPairs(shown, logRatios(shown));
    const seen = Object.fromEntries(Object.entries(sums).map(([name, x]) => [name, of(x)[0]]));
    expect(seen).toEqual({
      "rewards/chosen": 0.5,
      "rewards/rejected": -1,
      "rewards/margin": 1.5,
      "rewards/accuracy": 1,
      "logps/chosen": -3,
      "logps/rejected": -3,
    });
  });
});
