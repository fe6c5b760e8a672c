import { describe, expect, test } from "vitest";
import { axisTitle, makeScale, ticksOf } from "./_scale.ts";
import type { Axis } from "./spec.ts";

const linear: Axis = { label: "reward" };
const log: Axis = { label: "β", scale: "log" };
const bounds = (axis: Axis, values: number[], roundTo?: number) => {
  const { low, high } = makeScale(axis, values, roundTo);
  return [low, high];
};

describe("the ends of a scale", () => {
  test("leave a little room round the data, or go out to the next tick", () => {
    expect(bounds(linear, [0, 100])).toEqual([-2, 102]);
    expect(bounds(linear, [0.03, 0.97], 6)).toEqual([0, 1]);
    expect(bounds({ ...linear, integer: true }, [1, 3], 20)).toEqual([1, 3]);
  });

  test("are where the axis pins them, each by itself", () => {
    expect(bounds({ ...linear, range: [0, 1] }, [-5, 5], 6)).toEqual([0, 1]);
    expect(bounds({ ...linear, range: [0, undefined] }, [0.4, 2.3], 6)).toEqual([0, 2.5]);
    expect(bounds({ ...log, range: [0.01, 100] }, [1])).toEqual([0.01, 100]);
  });

  test.each([
    ["no data", linear, []],
    ["no data on a log axis", log, []],
    ["zero alone", linear, [0]],
    ["one value", linear, [5, 5, 5]],
    ["one value on a log axis", log, [0.1]],
    ["values that differ in the last digit", linear, [1, 1 + Number.EPSILON]],
    ["data below the pinned end", { ...linear, range: [10, undefined] } as Axis, [1, 2]],
    ["data above the pinned end", { ...linear, range: [undefined, 1] } as Axis, [5, 6]],
  ])("differ, and have ticks, for %s", (_, axis, values) => {
    const scale = makeScale(axis, values, 6);
    expect(scale.high).toBeGreaterThan(scale.low);
    const { major, labels } = ticksOf(scale, 6);
    expect(major.length).toBeGreaterThan(1);
    expect(new Set(labels).size).toBe(major.length);
  });

  test.each([
    [{ ...linear, range: [1, 1] } as Axis, "must rise, found 1 to 1"],
    [{ ...linear, range: [0, Number.NaN] } as Axis, "must be finite, found NaN"],
    [{ ...log, range: [0, 1] } as Axis, "must be above 0 on a log axis, found 0"],
  ])("that make no sense are refused", (axis, message) => {
    expect(() => makeScale(axis, [])).toThrow(message);
  });
});

describe("places", () => {
  test("of a log axis are even in the exponent", () => {
    const scale = makeScale({ ...log, range: [0.01, 100] }, []);
    expect([0.01, 0.1, 1, 10, 100].map(scale.place)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });

  test("exist for finite numbers, and on a log axis for those above zero", () => {
    const values = [1, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, null, undefined];
    const has = (axis: Axis) => values.map(makeScale(axis, []).has);
    expect(has(linear)).toEqual([true, true, true, false, false, false, false, false]);
    expect(has(log)).toEqual([true, false, false, false, false, false, false, false]);
  });

  test("an infinite value does not stretch the scale", () => {
    expect(bounds(linear, [0, Number.POSITIVE_INFINITY, Number.NaN, 1], 6)).toEqual([0, 1]);
  });
});

test("ticks named by the axis are used as they are, where they can be seen", () => {
  const scale = makeScale({ ...linear, range: [1, 10], ticks: [1, 2, 4, 8, 16] }, []);
  expect(ticksOf(scale, 3).labels).toEqual(["1", "2", "4", "8"]);
});

test("a unit stands in parentheses", () => {
  expect(axisTitle({ label: "KL", unit: "nats" })).toBe("KL (nats)");
  expect(axisTitle({ label: "KL" })).toBe("KL");
});

test("named places stand at 0, 1, 2 and are labelled by their names", () => {
  const scale = makeScale({ ...linear, names: ["10", "0.3", "none"] }, [0, 2]);
  expect(ticksOf(scale, 1)).toEqual({ major: [0, 1, 2], minor: [], labels: ["10", "0.3", "none"] });
});
