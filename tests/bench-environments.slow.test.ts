/** The benchmark of environments with fewer games: the very same games, and not much slower. */

import { expect, test } from "vitest";
// @ts-expect-error: a script without types.
import { LIMIT, measure } from "../bench/environments.mjs";

test("games of 2048 cost less than ten times a plain loop that plays the same ones", () => {
  measure(300);
  const { ours, ratio } = measure(1500);
  expect(ours.won).toBeGreaterThan(100);
  expect(ratio).toBeLessThan(LIMIT);
});
