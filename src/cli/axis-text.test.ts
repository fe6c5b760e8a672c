/** --axis as it is given, and the table of axes within 80 columns. */

import { expect, test } from "vitest";
import type { Summary } from "../runs/schemas.ts";
import { axes, axisTable } from "./axis-text.ts";

test("an axis is a name, or a name and a scorer; all are the embedded ones", () => {
  expect(axes("safety")).toEqual([{ name: "safety" }]);
  expect(axes("polite=a=b.ts", axes("safety"))).toEqual([
    { name: "safety" },
    { name: "polite", scorer: "a=b.ts" },
  ]);
  expect(axes("all").map(({ name }) => name)).toHaveLength(6);
  for (const wrong of ["=x.ts", "polite="]) expect(() => axes(wrong)).toThrow("NAME=SCORER");
});

test("the table fits, whatever the names and codes are", () => {
  const long = "x".repeat(100);
  const one = { mean: 0.5, ci95: [0.4, 0.6] as [number, number], scored: 999_999, errors: 0 };
  const found = {
    [long]: { ...one, codes: { [long]: 5, b: 3 } },
    none: {
      ...one,
      mean: null,
      ci95: null,
      scored: 0,
      codes: { scorer_error: 3, missing_completion: 2 },
    },
  };
  const lines = axisTable({ axes: found } as unknown as Summary);
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(80);
  expect(lines.join("\n")).toContain("nothing measured");
  expect(axisTable({} as Summary)).toEqual([]);
});
