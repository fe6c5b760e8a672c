import { expect, test } from "vitest";
import { intervalBar } from "./interval-bar.ts";

test("an estimate with its interval and marks on an axis", () => {
  const axis = { from: -1, to: 1, width: 11 };
  expect(intervalBar({ ...axis, value: 0, low: -0.4, high: 0.4, marks: [0.8] })).toBe(
    "···├─●─┤·┊·",
  );
  expect(intervalBar({ ...axis, value: 0, low: -0.6, high: 0.6, marks: [-0.4, 0.8] })).toBe(
    "··├┼─●──┤┊·",
  );
  // All in one place; and what is outside of the axis is drawn at its end.
  expect(intervalBar({ ...axis, value: 0.2, low: 0.2, high: 0.2, marks: [] })).toBe("······●····");
  expect(intervalBar({ ...axis, value: 3, low: 0, high: 3, marks: [] })).toBe("·····├────●");
});
