/**
 * The share of requests without a verdict. A judge that refuses a task refuses most of the requests about
 * it, so tasks are the independent units: the requests count as so many of them.
 */

import { binomialAtMost } from "../stats/margin.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import type { Observed } from "./observed.ts";

export interface DroppedShare {
  readonly dropped: number;
  readonly requests: number;
  readonly interval: [number, number] | null;
  /** Of the test that the share is at most the limit. */
  p(limit: number): number;
}

export function droppedShare(seen: readonly Observed[]): DroppedShare {
  const [dropped, requests] = [seen.filter(({ value }) => value === 1).length, seen.length];
  const tasks = effectiveTasks(seen);
  const score = requests === 0 ? 0 : (dropped / requests) * tasks;
  // A part of a task counts in the judge's favour in the test, and widens the interval.
  const [fewest, most] = [Math.floor(score + SLACK), Math.ceil(score - SLACK)];
  const [low, high] = [wilsonInterval(fewest, tasks), wilsonInterval(most, tasks)];
  return {
    ...{ dropped, requests },
    interval: low && high ? [low[0], high[1]] : null,
    p: (limit) => (fewest === 0 ? 1 : Math.max(0, 1 - binomialAtMost(fewest - 1, tasks, limit))),
  };
}

/** Against rounding in the product. */
const SLACK = 1e-9;

/** The number of equally large tasks whose mean varies as much (Kish 1965), rounded down. */
function effectiveTasks(seen: readonly Observed[]): number {
  const sizes = new Map<string, number>();
  for (const { id } of seen) sizes.set(id, (sizes.get(id) ?? 0) + 1);
  const squares = [...sizes.values()].reduce((sum, size) => sum + size * size, 0);
  return squares === 0 ? 0 : Math.floor(seen.length ** 2 / squares + SLACK);
}
