/** The price of cost: dual ascent on a limit. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { nextPrice } from "./penalties.ts";

const SETTINGS = { limit: 0.2, rate: 0.5, start: 0.1 };

test("it rises by rate · (cost − limit) while the limit is broken, falls below it, stays on it", () => {
  expect(nextPrice(SETTINGS, 1, 0.6)).toBeCloseTo(1.2, 12);
  expect(nextPrice(SETTINGS, 1, 0)).toBeCloseTo(0.9, 12);
  expect(nextPrice(SETTINGS, 1, 0.2)).toBe(1);
});

test("it is never below 0", () => {
  expect(nextPrice(SETTINGS, 0.05, 0)).toBe(0);
  expect(nextPrice(SETTINGS, 0, -100)).toBe(0);
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { maxLength: 50 }),
      (costs) => {
        let price = 0;
        for (const cost of costs) {
          price = nextPrice(SETTINGS, price, cost);
          expect(price).toBeGreaterThanOrEqual(0);
        }
      },
    ),
    { seed: 7 },
  );
});

test("it finds the price at which the limit just holds", () => {
  // Cost answers to the price as 1 / (1 + price): a limit of 0.2 wants 4.
  let price = SETTINGS.start;
  for (let step = 0; step < 500; step++) price = nextPrice(SETTINGS, price, 1 / (1 + price));
  expect(price).toBeCloseTo(4, 3);
});
