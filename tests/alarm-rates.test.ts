/** The published rates of alarms: enough runs, and tables that say what was measured. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import * as script from "../scripts/alarm-rates.mjs";
import { ALARMS } from "../src/learn/alarms/index.ts";
import { ALGORITHMS } from "../src/learn/algorithms/index.ts";

interface Results {
  readonly honest: {
    readonly runs: number;
    readonly tasks: readonly string[];
    readonly algorithms: readonly string[];
    readonly raised: Readonly<Record<string, { readonly all: number }>>;
  };
  readonly sabotaged: readonly {
    readonly expected: readonly string[];
    readonly runs: number;
    readonly detected: number;
  }[];
}

const { RESULTS, PAGE, filledPage } = script as {
  readonly RESULTS: string;
  readonly PAGE: string;
  filledPage(page: string, results: Results): string;
};
const results = JSON.parse(readFileSync(RESULTS, "utf8")) as Results;
const page = readFileSync(PAGE, "utf8");

test("the page says what was measured; another count would show", () => {
  expect(filledPage(page, results), "npm run alarm-rates -- --draw").toBe(page);
  const { honest } = results;
  const other = { ...results, honest: { ...honest, runs: honest.runs + 1 } };
  expect(filledPage(page, other)).not.toBe(page);
});

test("at least 100 honest runs of several tasks with every algorithm, and every alarm counted", () => {
  const { runs, tasks, algorithms, raised } = results.honest;
  expect(runs).toBeGreaterThanOrEqual(100);
  expect(tasks.length).toBeGreaterThanOrEqual(3);
  expect([...algorithms].sort()).toEqual(ALGORITHMS.map(({ name }) => name).sort());
  expect(Object.keys(raised)).toEqual([...ALARMS]);
});

test("each fault names alarms that there are, and none is counted more often than it was tried", () => {
  for (const { expected, runs, detected } of results.sabotaged) {
    for (const alarm of expected) expect(ALARMS).toContain(alarm);
    expect(detected).toBeLessThanOrEqual(runs);
  }
});

test("the page lists every alarm", () => {
  const [before = ""] = page.split("## When");
  const listed = [...before.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual([...ALARMS]);
});
