import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DifferenceCounts } from "./difference-counts.ts";

describe("DifferenceCounts", () => {
  it("counts and sorts", () => {
    const counted = DifferenceCounts.of([1, -1, 0, 1, -0, 0.5]);
    counted.add(0.5, 3);
    expect(counted.pairs).toBe(9);
    expect(counted.distinct).toBe(4);
    expect(counted.count(0)).toBe(2);
    expect(counted.count(7)).toBe(0);
    expect(counted.histogram()).toEqual({
      values: Float64Array.of(-1, 0, 0.5, 1),
      counts: Float64Array.of(1, 2, 4, 2),
    });
  });

  it("has the mean and the unbiased variance of what was added", () => {
    const counted = DifferenceCounts.of([2, 4, 4, 4, 5, 5, 7, 9]);
    expect(counted.mean()).toBe(5);
    expect(counted.variance()).toBeCloseTo(32 / 7, 14);
  });

  it("forgets the order, to the last bit", () => {
    const differences = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2 });
    fc.assert(
      fc.property(differences, (values) => {
        const forward = DifferenceCounts.of(values);
        const backward = DifferenceCounts.of([...values].reverse());
        expect(forward.mean()).toBe(backward.mean());
        expect(forward.variance()).toBe(backward.variance());
      }),
      { seed: 1 },
    );
  });

  it("is undefined where there is too little", () => {
    expect(new DifferenceCounts().mean()).toBeUndefined();
    expect(DifferenceCounts.of([1]).variance()).toBeUndefined();
  });

  it("refuses what is not a number of pairs or a difference", () => {
    expect(() => new DifferenceCounts().add(Number.NaN)).toThrow(RangeError);
    expect(() => new DifferenceCounts().add(1, 0.5)).toThrow(RangeError);
  });
});
