/** Few lengths, and none much longer than what it is for. */

import { expect, test } from "vitest";
import { stepLength } from "./cache.ts";

test("short texts are filled up to sixteen, long ones by a quarter at most", () => {
  const lengths = Array.from({ length: 8192 }, (_, i) => i + 1);
  for (const length of lengths) {
    const given = stepLength(length);
    expect(given).toBeGreaterThanOrEqual(length);
    expect(given - length).toBeLessThan(Math.max(16, length / 4));
    expect(stepLength(given)).toBe(given);
  }
  expect([1, 16, 17, 80, 128, 129, 257].map(stepLength)).toEqual([16, 16, 32, 80, 128, 160, 320]);
  expect(new Set(lengths.map(stepLength)).size).toBe(32);
});
