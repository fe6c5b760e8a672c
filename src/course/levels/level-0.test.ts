/** What counts as a drawn loop in the mental map. */

import { expect, test } from "vitest";
import { drawsLoop } from "./level-0.ts";

test.each([
  ...["Loop A: measurement", "loop-a", "A: measurement", "A) measurement", "[A] measurement"],
  ...["A → measurement", "A -> measurement", "A = measurement", "| A | measurement |", "(A)"],
])("%j draws Loop A, and no other", (drawing) => {
  expect(drawsLoop(drawing, "A")).toBe(true);
  expect(drawsLoop(drawing, "B")).toBe(false);
});

test.each(["A policy is measured", "DNA: measurement", "measurement", "a: b", ""])(
  "%j draws no Loop A",
  (drawing) => expect(drawsLoop(drawing, "A")).toBe(false),
);
