/** The page about a matrix, made from the table that the command writes. */

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { examplesOf, firstRight, makeRun } from "../../../tests/gate-runs.ts";
import { compareRuns } from "../../gate/compare.ts";
import { report } from "../report.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-matrix-page-"));
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\u00a0]+/g, " ");

/** Real runs compared, under the names that cells have. */
async function matrixOf(right: Record<string, number>): Promise<string> {
  const dir = path.join(root, "matrix");
  mkdirSync(dir);
  const runs: string[] = [];
  for (const [name, count] of Object.entries(right))
    runs.push(
      await makeRun(root, {
        ...{ examples: examplesOf(60), right: firstRight(60, count) },
        provenance: { policy: { name } },
      }),
    );
  const [baseline = "", ...others] = runs;
  const found = await compareRuns({ baseline, runs: others });
  const names = new Map(runs.map((run, i) => [run, `${dir}/${Object.keys(right)[i]}/run`]));
  const text = JSON.stringify(found).replace(/"run":"([^"]*)"/g, (_, run) =>
    JSON.stringify({ run: names.get(run) }).slice(1, -1),
  );
  writeFileSync(path.join(dir, "matrix.json"), text);
  return dir;
}

test("prompts by models, the baseline, differences with intervals", async () => {
  const dir = await matrixOf({ "plain.a": 30, "plain.b": 33, "careful.a": 30, "careful.b": 54 });
  const { html, runs } = await report({ runs: [dir] });
  expect(runs).toEqual([{ name: "matrix", status: "4 cells, 3 compared with plain.a" }]);
  const text = textOf(html);
  expect(text).toContain("prompt a b plain 50.0 % (baseline) 55.0 % careful 50.0 % 90.0 %");
  expect(text).toMatch(/careful\.b 90\.0 % \+0\.4 \+0\.\d+ to \+0\.\d+ &lt; 0\.0001 policy/);
  expect(text).toContain("Largest change +0.4 careful.b");
  expect(html).toMatch(/var\(--good\) 40%[^>]*>90\.0/);
});

test("what matrix.json must not be is said, and slices are those of the file", async () => {
  const dir = path.join(root, "damaged");
  mkdirSync(dir);
  writeFileSync(path.join(dir, "matrix.json"), "{}");
  await expect(report({ runs: [dir] })).rejects.toThrow(/matrix\.json is damaged/);
  await expect(report({ runs: [dir], slice: ["topic"] })).rejects.toMatchObject({
    hint: expect.stringContaining("slice: [topic]"),
  });
});
