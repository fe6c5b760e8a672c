/** Several runs against a baseline. */

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { compareMarkdown, compareText } from "../src/cli/compare-text.ts";
import { gridMarkdown, gridText, type SliceGrid, sliceGrids } from "../src/cli/slice-grid.ts";
import { compareRuns } from "../src/gate/compare.ts";
import { gate } from "../src/gate/gate.ts";
import { mcnemarExact } from "../src/stats/mcnemar.ts";
import { type Conditions, examplesOf, firstRight, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const make = (name: string, right: number, more: Partial<Conditions> = {}) =>
  makeRun(root, {
    ...{ examples: examplesOf(60), right: firstRight(60, right) },
    ...{ provenance: { policy: { name } }, ...more },
  });

test("paired differences, the same as the gate's, with p-values that Holm corrected", async () => {
  const baseline = await make("a", 20);
  const runs = [await make("b", 30), await make("c", 21), await make("d", 13)];
  const found = await compareRuns({ baseline, runs });
  const ps = [mcnemarExact(10, 0), mcnemarExact(1, 0), mcnemarExact(0, 7)];
  expect(found.runs.map(({ p_value }) => p_value)).toEqual(ps);
  // In order: the smallest times 3, the next times 2, the largest as it is.
  expect(found.runs.map(({ p_holm }) => p_holm)).toEqual([3 * 2 ** -9, 1, 2 * 2 ** -6]);
  for (const [i, candidate] of runs.entries()) {
    const { delta, ci, candidate: side } = await gate({ baseline, candidate });
    expect(found.runs[i]).toMatchObject({ delta, ci, ...side, changed: ["policy"], refused: [] });
  }
  const text = compareText(found);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(text).toMatch(
    /0\.5000 \+0\.1667 \+0\.\d{3} to \+0\.\d{3} +0\.0059\n {4}changed: policy$/m,
  );
  expect(text.replace(/\s+/g, " ")).toContain("p-values are (Holm, 3 comparisons)");
  const markdown = compareMarkdown(found);
  expect(markdown.split("\n").filter((line) => line.startsWith("|"))).toHaveLength(6);
  expect(markdown).toContain("p-values are (Holm, 3 comparisons)");
});

test("another prompt and other settings, which the gate refuses, are named as what changed", async () => {
  const asked = (system: string, temperature: number) => ({
    provenance: {
      policy: { name: "a" },
      prompt: { system },
      sampling: { temperature, seed: 1 },
    },
  });
  const baseline = await make("a", 20, asked("x", 1));
  const candidate = await make("a", 40, asked("y", 0.5));
  expect(await gate({ baseline, candidate })).toMatchObject({ exit_code: 3 });
  const { runs } = await compareRuns({ baseline, runs: [candidate] });
  expect(runs[0]).toMatchObject({ changed: ["prompt", "sampling"], refused: [] });
  expect(runs[0]?.delta).toBeCloseTo(1 / 3, 12);
});

test("other examples and edited runs are not compared, and do not count in the correction", async () => {
  const baseline = await make("a", 20);
  const other = await make("b", 20, { maxExamples: 59 });
  const edited = await make("c", 20);
  const file = path.join(edited, "results.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace('"reward":0', '"reward":1'));
  const { runs, ...rest } = await compareRuns({
    ...{ baseline, runs: [other, edited, await make("d", 30)] },
  });
  expect(runs.map(({ refused }) => refused.map(({ code }) => code))).toEqual([
    expect.arrayContaining(["examples_differ"]),
    expect.arrayContaining(["run_edited"]),
    [],
  ]);
  expect(runs.map(({ delta, p_holm }) => [delta, p_holm])).toEqual([
    [null, null],
    [null, null],
    [10 / 60, mcnemarExact(10, 0)],
  ]);
  const text = compareText({ runs, ...rest });
  expect(text).toContain("not comparable: examples_differ");
  expect(text.replace(/\s+/g, " ")).toContain("p-values are (Holm, 1 comparison)");
  const markdown = compareMarkdown({ runs, ...rest });
  expect(markdown).toContain("p-values are (Holm, 1 comparison)");
  expect(markdown).toMatch(/^- .*: `examples_differ`: The examples differ/m);
  expect(markdown).toMatch(/^- .*: `run_edited`: /m);
});

test("another number of samples, or another scorer, has no reasons that only follow from it", async () => {
  const examples = examplesOf(20);
  const right = firstRight(20, 10);
  const provenance = { policy: { name: "a" } };
  const baseline = await makeRun(root, { examples, right, provenance });
  const thrice = { examples, packs: right.map((one) => [one, one, one]), provenance };
  const scorer = path.join(root, "lenient.ts");
  writeFileSync(
    scorer,
    `export default { name: "lenient", version: "1", spec: "always 1",
      score: () => ({ reward: 1, code: "ok", details: {} }) }`,
  );
  const candidates = [
    await makeRun(root, thrice),
    await makeRun(root, { examples, right, provenance, scorer }),
  ];
  const { runs } = await compareRuns({ baseline, runs: candidates });
  expect(runs.map(({ refused }) => refused.map(({ code }) => code))).toEqual([
    ["repeats_differ"],
    ["scorer_name_differs", "scorer_version_differs", "scorer_source_differs"],
  ]);
  const { reasons } = await gate({ baseline, candidate: candidates[0] as string });
  expect(reasons).toEqual([
    expect.objectContaining({ code: "repeats_differ", baseline: 1, candidate: 3 }),
  ]);
});

test("what changed is never cut, and validation data has a note", async () => {
  const baseline = await make("a", 20, {
    provenance: {
      policy: { name: "a" },
      prompt: { system: "x" },
      sampling: { temperature: 1, seed: 1 },
    },
  });
  const seen = (rows: number) => ({ rows, first_ids: [], of: 60, false_positive_rate: 0 });
  const exposure = { learned: seen(0), validated: seen(60) };
  const candidate = await make("b", 25, {
    provenance: {
      policy: { name: "b" },
      prompt: { system: "y" },
      sampling: { temperature: 0.5, seed: 1 },
      exposure,
    },
  });
  const found = await compareRuns({ baseline, runs: [candidate] });
  expect(found.runs[0]?.changed).toEqual(["policy", "prompt", "sampling", "seen in validation"]);
  const text = compareText(found);
  expect(text).toMatch(/^ {4}changed: policy, prompt, sampling \*$/m);
  expect(text.replace(/\s+/g, " ")).toContain("* One of the two policies was validated on these");
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(compareMarkdown(found)).toContain("seen in validation: One of the two policies");
  const other = await make("c", 25);
  expect(
    compareText(await compareRuns({ baseline: await make("a", 20), runs: [other] })),
  ).not.toContain("*");
});

test("slices that all runs have are shown, a column for each value", async () => {
  const examples = examplesOf(60).map((one, i) => ({
    ...one,
    language: ["de", "en", "fr"][i % 3],
    topic: `a topic with a long name, number ${i % 9}`,
  }));
  const sliced = (name: string, right: number, slice: string[]) =>
    make(name, right, { examples, slice });
  const baseline = await sliced("a", 20, ["language", "topic"]);
  const found = await compareRuns({
    baseline,
    runs: [await sliced("b", 30, ["language", "topic"])],
  });
  const [byLanguage, byTopic] = await sliceGrids(found);
  expect(byLanguage).toMatchObject({ field: "language", values: ["de", "en", "fr"] });
  expect(byLanguage?.rows.map(({ figures }) => figures)).toEqual([
    [7 / 20, 7 / 20, 6 / 20],
    [0.5, 0.5, 0.5],
  ]);
  const text = gridText(byLanguage as SliceGrid);
  expect(text).toMatch(/^language +de +en +fr$/m);
  expect(text).toMatch(/ 0\.3500 {2}0\.3500 {2}0\.3000$/m);
  const wide = gridText(byTopic as SliceGrid);
  expect(Math.max(...wide.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(wide.match(/a topic with a …/g)?.length, "no value is left out").toBe(9);
  expect(gridMarkdown(byLanguage as SliceGrid)).toMatch(/^\| language \| de \| en \| fr \|$/m);
  const without = await compareRuns({ baseline, runs: [await sliced("c", 30, ["language"])] });
  expect((await sliceGrids(without)).map(({ field }) => field)).toEqual(["language"]);
});

test("samples of an example are one", async () => {
  const packs = (right: number) => examplesOf(20).map((_, i) => Array(6).fill(i < right));
  const examples = examplesOf(20);
  const side = (name: string, right: number) =>
    makeRun(root, { examples, packs: packs(right), provenance: { policy: { name } } });
  const { runs } = await compareRuns({ baseline: await side("a", 8), runs: [await side("b", 12)] });
  expect(runs[0]).toMatchObject({ effective_examples: 20, test: "cluster_betting" });
  // 4 examples, not 24 rows: the average of three bets that won four times.
  const capital = (2 ** 4 + 1.875 ** 4 + 1.625 ** 4) / 3;
  expect(runs[0]?.p_value).toBeCloseTo(2 / capital, 12);
});

test("the baseline is not compared with itself, and a run named twice counts once", async () => {
  const [baseline, other] = [await make("a", 20), await make("b", 27)];
  const runs = [baseline, other, `${other}/`, path.join(baseline, "..", path.basename(baseline))];
  const found = await compareRuns({ baseline, runs });
  expect(found.comparisons).toBe(1);
  expect(found.runs.map(({ run, p_holm }) => [run, p_holm])).toEqual([[other, mcnemarExact(7, 0)]]);
  await expect(compareRuns({ baseline, runs: [baseline] })).rejects.toThrow(/nothing to compare/);
});

test("nothing to compare is wrong usage", async () => {
  await expect(compareRuns({ baseline: "a", runs: [] })).rejects.toThrow(/nothing to compare/);
});
