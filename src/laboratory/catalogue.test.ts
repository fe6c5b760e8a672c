/** The catalogue itself: complete, and as the page in the docs says. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SABOTAGES, sabotagesNamed } from "./catalogue/index.ts";
import { FAMILIES, nameOf } from "./sabotage.ts";

/** The holes of the list from a to k, each with the sabotages that try it. */
const ONCE_PROMOTED = {
  a: ["other-prompts-same-ids"],
  b: ["best-of-20-seeds", "lucky-seed-for-both", "same-policy-again"],
  c: [
    ...["test-set-with-blank-line", "test-set-less-one", "test-answers-as-texts"],
    ...["test-set-reordered", "test-set-respaced", "test-set-recased"],
  ],
  d: ["copies-of-problems"],
  e: ["rewards-rehashed"],
  f: ["answers-hash-stale"],
  g: ["weights-planted"],
  h: ["helper-by-computed-path", "rule-read-from-file"],
  i: ["history-deleted"],
  j: ["validation-set-as-test"],
  k: ["policy-not-stated"],
};

test("there are at least 60, of every family, each under a name of its own", () => {
  const names = SABOTAGES.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(new Set([...names, ...FAMILIES]).size).toBe(names.length + FAMILIES.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  expect([...new Set(SABOTAGES.map(({ family }) => family))]).toEqual([...FAMILIES]);
});

test.each(Object.entries(ONCE_PROMOTED))("what was once promoted is there: %s", (_, names) => {
  for (const { caught } of sabotagesNamed(names)) expect(caught.check).not.toBe("nothing");
  expect(sabotagesNamed(names)).toHaveLength(names.length);
});

test("every trick and every twin is one sentence, and what nothing catches says why", () => {
  for (const { name, trick, honest, caught } of SABOTAGES) {
    expect(
      [trick, honest].filter((text) => !/^[A-Zπ0-9].*\.$/.test(text)),
      name,
    ).toEqual([]);
    if (caught.check === "nothing") expect(caught.because.length, name).toBeGreaterThan(20);
  }
});

test("names and families choose; an unknown one is refused", () => {
  expect(sabotagesNamed(["seeds"]).every(({ family }) => family === "seeds")).toBe(true);
  expect(sabotagesNamed(["reward-flipped", "seeds"]).map(({ name }) => name)).toContain(
    "reward-flipped",
  );
  expect(() => sabotagesNamed(["reward-flopped"])).toThrow(/no sabotage or family/);
});

/** The slow test compares the whole page; this one sees a changed catalogue at once. */
test("docs/sabotages.md has a row for each, with the check that catches it", () => {
  const page = readFileSync(new URL("../../docs/sabotages.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.map((row) => /`([^`]+)`/.exec(row)?.[1])).toEqual(SABOTAGES.map(({ name }) => name));
  for (const [i, { caught }] of SABOTAGES.entries()) {
    expect(rows[i]?.replaceAll("`", "")).toContain(`| ${nameOf(caught)}`);
  }
});
