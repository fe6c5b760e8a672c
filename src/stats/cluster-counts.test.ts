import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClusterCounts } from "./cluster-counts.ts";
import { DifferenceCounts } from "./difference-counts.ts";
import { pairedBootstrap, signFlipTest } from "./paired.ts";

const of = (...clusters: readonly (readonly [sum: number, size: number])[]) => {
  const counts = new ClusterCounts();
  for (const [sum, size] of clusters) counts.add(sum, size);
  return counts;
};
const clusters = fc.array(
  fc
    .integer({ min: 1, max: 6 })
    .chain((size) => fc.tuple(fc.integer({ min: -size, max: size }), fc.constant(size))),
  { minLength: 1, maxLength: 30 },
);

describe("the effective number of examples", () => {
  test.each([
    ["single rows count as what they are", of([1, 1], [0, 1], [-1, 1]), 3],
    ["copies of five count as five", of(...Array(5).fill([30, 30] as const)), 5],
    ["one prompt 99 times and one once", of([99, 99], [0, 1]), 100 ** 2 / (99 ** 2 + 1)],
    ["nothing", of(), 0],
  ])("%s", (_, counts, effective) => expect(counts.effective).toBeCloseTo(effective, 12));

  test("lies between one and the number of clusters", () => {
    fc.assert(
      fc.property(clusters, (list) => {
        const { effective } = of(...list);
        expect(effective).toBeGreaterThanOrEqual(1 - 1e-12);
        expect(effective).toBeLessThanOrEqual(list.length + 1e-9);
      }),
    );
  });
});

describe("clusters", () => {
  test("of one row each are the differences themselves, to the digit", () => {
    const list = [1, 0, 0, -1, 1, 1, 0.5];
    const [alone, plain] = [of(...list.map((d) => [d, 1] as const)), DifferenceCounts.of(list)];
    expect(alone.mean()).toBe(plain.mean());
    expect(signFlipTest(alone.sums(), { seed: "s" })).toEqual(signFlipTest(plain, { seed: "s" }));
    const [one, other] = [alone.influences(), plain].map((counts) =>
      pairedBootstrap(counts, { seed: "s" }),
    );
    expect(one?.low).toBeCloseTo(other?.low as number, 12);
    expect(one?.high).toBeCloseTo(other?.high as number, 12);
  });

  test("copied k times have the mean and the spread that they have once", () => {
    const once = of([1, 1], [0, 1], [-1, 1], [1, 1]);
    const copied = of([7, 7], [0, 7], [-7, 7], [7, 7]);
    expect(copied.mean()).toBe(once.mean());
    expect(copied.influences().variance()).toBeCloseTo(once.influences().variance() as number, 12);
    expect(signFlipTest(copied.sums(), { seed: 1 }).p).toBe(
      signFlipTest(once.sums(), { seed: 1 }).p,
    );
  });

  test("influences have the mean difference of a row as their mean", () => {
    fc.assert(
      fc.property(clusters, (list) => {
        const counts = of(...list);
        const [sum, rows] = list.reduce(([s, r], [a, b]) => [s + a, r + b], [0, 0]);
        expect(counts.mean()).toBeCloseTo(sum / rows, 12);
        expect(counts.influences().mean()).toBeCloseTo(sum / rows, 9);
        expect(counts.influences().pairs).toBe(list.length);
      }),
    );
  });

  test("where every row gains the same, sizes alone make no spread", () => {
    expect(of([1, 1], [5, 5], [9, 9]).influences().variance()).toBeCloseTo(0, 20);
  });

  test("their order does not matter", () => {
    const list = [
      [2, 3],
      [0.1, 1],
      [-1, 2],
      [0.7, 1],
    ] as const;
    const [one, other] = [of(...list), of(...[...list].reverse())];
    expect(one.influences().histogram()).toEqual(other.influences().histogram());
  });

  test.each([0, -1, 1.5, Number.NaN])("of %s rows are refused", (size) =>
    expect(() => of([0, size])).toThrow(RangeError),
  );
});
