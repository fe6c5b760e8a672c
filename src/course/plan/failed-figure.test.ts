/** A fix is judged by the figure that failed, not by the reward alone. */

import { expect, test } from "vitest";
import { failuresOf, stillFails } from "./failed-figure.ts";
import type { Training } from "./training.ts";

interface Made {
  readonly alarm?: string;
  readonly stops?: boolean;
  /** Of each step. */
  readonly length: readonly number[];
  /** Right answers of 40 at the start and at the end. */
  readonly right: readonly [number, number];
}

function training({ alarm, stops = false, length, right }: Made): Training {
  const evaluations = right.map((count, i) => ({
    step: i * length.length,
    rewards: Array.from({ length: 40 }, (_, at) => Number(at < count)),
  }));
  const alarms = alarm === undefined ? [] : [{ alarm, stops, step: 3, message: "" }];
  const steps = length.map((value, i) => ({ step: i + 1, values: { "length/mean": value } }));
  return {
    ...{ path: "runs/a", manifest: { settings: { sabotage: null } } },
    records: { alarms, evaluations, steps },
  } as unknown as Training;
}

const grown = [10, 14, 20, 28, 29, 30, 31, 30];
const steady = [10, 11, 10, 10, 11, 10, 11, 10];
const long = training({ alarm: "length_drift", length: grown, right: [20, 22] });
const [drift] = failuresOf(long);

test("length that drifted is fixed by length that did not, with the same reward", () => {
  expect(drift).toMatchObject({ how: "length_drift", figure: "length/mean" });
  const fix = training({ length: steady, right: [20, 22] });
  expect(drift?.better(fix, long)).toBe(true);
  expect(drift && stillFails(fix, drift)).toBe(false);
});

test("neither by chance, nor at the price of the reward, nor with the alarm raised again", () => {
  const noisy = training({ length: [10, 40, 12, 28, 55, 10, 47, 12], right: [20, 22] });
  expect(drift?.better(noisy, long), "within its noise").toBe(false);
  const ruined = training({ length: steady, right: [20, 2] });
  expect(drift?.better(ruined, long), "a loss of reward").toBe(false);
  expect(drift && stillFails(ruined, drift), "validation fell").toBe(true);
  const again = training({ alarm: "length_drift", length: steady, right: [20, 22] });
  expect(drift && stillFails(again, drift)).toBe(true);
});

test("a stopping alarm is judged by the reward, and another alarm does not hide it", () => {
  const stopped = training({
    alarm: "validation_falls",
    stops: true,
    length: grown,
    right: [20, 4],
  });
  expect(failuresOf(stopped).map(({ figure }) => figure)).toEqual(["reward", "reward"]);
  const other = training({ alarm: "length_drift", length: grown, right: [20, 38] });
  const [fell] = failuresOf(stopped);
  expect(fell && stillFails(other, fell), "another figure").toBe(false);
  expect(fell?.better(other, stopped)).toBe(true);
});
