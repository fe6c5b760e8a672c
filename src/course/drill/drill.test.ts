/** The drill can be solved from the runs alone, and an answer that did not read them is wrong. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Example } from "../../core/index.ts";
import { mathFinalLine } from "../../scorers/index.ts";
import { casesOf } from "./drill.ts";
import { CAUSE_NAMES, type Cause, markDrill, newDrill, type ShownCase } from "./index.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-drill-"));
const cases = path.join(scratch, "cases");
let shown: ShownCase[];

beforeAll(async () => {
  shown = await newDrill(cases, 0);
});
afterAll(() => rmSync(scratch, { recursive: true }));

type Row = Example & { readonly completion: string; readonly reward: number };

function read(number: number, run: string) {
  const file = (name: string) => readFileSync(path.join(cases, String(number), run, name), "utf8");
  const rows = file("results.jsonl").trim().split("\n");
  return {
    manifest: JSON.parse(file("manifest.json")),
    rows: rows.map((line) => JSON.parse(line) as Row),
  };
}

const isRight = (row: Row) => mathFinalLine.score(row, row.completion).reward === 1;

/** What a careful reader concludes; it knows nothing of how the cases are made. */
function conclude(number: number): Cause {
  const [before, after] = [read(number, "before"), read(number, "after")];
  if (after.manifest.loop === "B") return "selection";
  if (before.manifest.scorer.source_sha256 !== after.manifest.scorer.source_sha256) return "scorer";
  if (before.manifest.answers_sha256 === after.manifest.answers_sha256) return "off-policy";
  if (after.rows.some((row) => row.reward === 0 && isRight(row))) return "parser";
  if (after.rows.filter((row) => row.reward === 1 && !isRight(row)).length > 100) return "hacking";
  return "policy";
}

test("reading manifests and rows gives every answer", async () => {
  const answers = new Map(shown.map(({ number }) => [number, conclude(number)]));
  expect([...answers.values()].sort()).toEqual([...CAUSE_NAMES].sort());
  const marks = await markDrill(cases, answers);
  expect(marks.filter(({ right }) => !right)).toEqual([]);
  for (const { evidence } of marks)
    expect(evidence).toMatch(/^(manifest\.json|results\.jsonl|gate)/);
});

test("going by the claim gives wrong answers", async () => {
  const marks = await markDrill(cases, new Map(shown.map(({ number }) => [number, "policy"])));
  expect(marks.filter(({ right }) => right).map(({ cause }) => cause)).toEqual(["policy"]);
});

test("what is not answered is not right", async () => {
  const marks = await markDrill(cases, new Map());
  expect(marks.some(({ right }) => right)).toBe(false);
});

test("the seed decides the order", () => {
  const order = (seed: number) => casesOf(seed).map(({ cause }) => cause);
  expect(order(0)).toEqual(order(0));
  expect(order(1)).not.toEqual(order(0));
  expect([...order(1)].sort()).toEqual([...order(0)].sort());
});

test("a folder that exists, a folder without cases and a case that is not there are refused", async () => {
  await expect(newDrill(cases, 0)).rejects.toThrow("exists");
  expect(existsSync(path.join(cases, "drill.json"))).toBe(true);
  await expect(markDrill(scratch, new Map())).rejects.toThrow("has no cases");
  await expect(markDrill(cases, new Map([[7, "policy"]]))).rejects.toThrow("no case 7");
});
