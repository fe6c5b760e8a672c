import { expect, test } from "vitest";
import { binomialAtMost } from "../stats/margin.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { droppedShare } from "./dropped-share.ts";
import type { Observed } from "./observed.ts";

/** Six requests for each task; `dropped` says of which there is no verdict. */
const asked = (tasks: number, dropped: (task: number, request: number) => boolean): Observed[] =>
  Array.from({ length: 6 * tasks }, (_, i) => ({
    ...{ id: `task-${Math.floor(i / 6)}`, probe: "pair" },
    value: Number(dropped(Math.floor(i / 6), i % 6)),
  }));

test("requests about one task are dropped together, so that tasks are counted", () => {
  const { interval, p, dropped } = droppedShare(asked(40, (task) => task < 6));
  expect(dropped).toBe(36);
  expect(interval).toEqual(wilsonInterval(6, 40));
  // 36 independent requests of 240 would be convicted at p 0.01.
  expect(p(0.1)).toBeCloseTo(1 - binomialAtMost(5, 40, 0.1), 12);
  expect(p(0.1)).toBeGreaterThan(0.2);
});

test("part of a task favours the judge in the test, and widens the interval", () => {
  // 40 of 240 requests are 6.67 of 40 tasks.
  const { interval, p } = droppedShare(asked(40, (_, request) => request === 0));
  expect(p(0.1)).toBe(droppedShare(asked(40, (task) => task < 6)).p(0.1));
  expect(interval).toEqual([wilsonInterval(6, 40)?.[0], wilsonInterval(7, 40)?.[1]]);
});

test("tasks with one request add little to those with six", () => {
  const groups = Array.from({ length: 10 }, (_, i): Observed => {
    return { id: `group-${i}`, probe: "group", value: 1 };
  });
  // 250 requests as 250² / (40 · 36 + 10 · 1) = 43 tasks, of which 10 / 250 were dropped.
  const { interval } = droppedShare([...asked(40, () => false), ...groups]);
  expect(interval).toEqual([wilsonInterval(1, 43)?.[0], wilsonInterval(2, 43)?.[1]]);
});

test("nothing asked, nothing dropped", () => {
  expect(droppedShare([])).toMatchObject({ dropped: 0, requests: 0, interval: null });
  expect(droppedShare([]).p(0.1)).toBe(1);
  expect(droppedShare(asked(8, () => false)).p(0.1)).toBe(1);
  expect(droppedShare(asked(8, () => true)).p(0.1)).toBeLessThan(1e-7);
});
