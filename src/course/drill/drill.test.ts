/** The drill can be solved from the runs alone, and an answer that did not read them is wrong. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Example } from "../../core/index.ts";
import { examplesOf } from "../../datasets/index.ts";
import { mathFinalLine } from "../../scorers/index.ts";
import { CASES } from "./cases.ts";
import { CLAIMS } from "./claims.ts";
import { casesOf } from "./drawn.ts";
import { CAUSE_NAMES, type Cause, markDrill, newDrill, type ShownCase } from "./index.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-drill-"));
const cases = path.join(scratch, "cases");
let shown: ShownCase[];

beforeAll(async () => {
  shown = await newDrill(cases, 0);
}, 60_000);
afterAll(() => rmSync(scratch, { recursive: true }));

type Row = Example & { readonly completion: string; readonly reward: number };

function read(pair: string, run: string) {
  const file = (name: string) => readFileSync(path.join(pair, run, name), "utf8");
  const rows = file("results.jsonl").trim().split("\n");
  return {
    manifest: JSON.parse(file("manifest.json")),
    rows: rows.map((line) => JSON.parse(line) as Row),
  };
}

const isRight = (row: Row) => mathFinalLine.score(row, row.completion).reward === 1;

/** What a careful reader concludes; it knows nothing of how the cases are made. */
function conclude(pair: string): Cause {
  const [before, after] = [read(pair, "before"), read(pair, "after")];
  if (after.manifest.loop === "B") return "selection";
  if (before.manifest.scorer.source_sha256 !== after.manifest.scorer.source_sha256) return "scorer";
  if (before.manifest.answers_sha256 === after.manifest.answers_sha256) return "off-policy";
  if (after.rows.some((row) => row.reward === 0 && isRight(row))) return "parser";
  if (after.rows.filter((row) => row.reward === 1 && !isRight(row)).length > 100) return "hacking";
  return "policy";
}

test("reading manifests and rows gives every answer", async () => {
  const pairOf = (number: number) => path.join(cases, String(number));
  const answers = new Map(shown.map(({ number }) => [number, conclude(pairOf(number))]));
  const marks = await markDrill(cases, answers);
  expect(marks.filter(({ right }) => !right)).toEqual([]);
  for (const { evidence } of marks)
    expect(evidence).toMatch(/^(manifest\.json|results\.jsonl|gate)/);
});

test("going by the claim gives wrong answers", async () => {
  const marks = await markDrill(cases, new Map(shown.map(({ number }) => [number, "policy"])));
  for (const { right, cause } of marks) expect(right).toBe(cause === "policy");
  expect(marks.some(({ right }) => !right)).toBe(true);
});

test("every kind of pair is what it says: its cause can be read, its pass rate moves as told", async () => {
  const draw = { seed: 3, updates: 320, n: 3, examples: examplesOf("dev").slice(0, 160) };
  for (const [i, one] of CASES.entries()) {
    const pair = path.join(scratch, "kinds", String(i));
    await one.make(pair, draw);
    expect(conclude(pair), `kind ${i}`).toBe(one.cause);
    const rate = ({ rows }: ReturnType<typeof read>) =>
      rows.filter(({ reward }) => reward === 1).length / rows.length;
    const change = rate(read(pair, "after")) - rate(read(pair, "before"));
    const direction = Math.abs(change) < 0.05 ? "stays" : change > 0 ? "rises" : "falls";
    expect(direction, `kind ${i}: ${change}`).toBe(one.direction);
  }
}, 60_000);

test("what is not answered is not right", async () => {
  const marks = await markDrill(cases, new Map());
  expect(marks.some(({ right }) => right)).toBe(false);
});

const seeds = Array.from({ length: 200 }, (_, seed) => seed);
const drawn = seeds.map(casesOf);

test("a seed always gives the same pairs; seeds differ in number, causes, claims and rows", () => {
  expect(casesOf(7).map(withoutCode)).toEqual(casesOf(7).map(withoutCode));
  const several = (of: (one: ReturnType<typeof casesOf>) => unknown) =>
    new Set(drawn.slice(0, 20).map((one) => JSON.stringify(of(one)))).size;
  expect(several(({ length }) => length)).toBeGreaterThan(1);
  expect(several((one) => one.map(({ cause }) => cause).sort())).toBeGreaterThan(10);
  expect(several((one) => one.map(({ claim }) => claim))).toBeGreaterThan(15);
  expect(several((one) => one.map(({ draw }) => draw.examples.length))).toBeGreaterThan(15);
  expect(several((one) => one[0]?.draw.examples.map(({ id }) => id))).toBeGreaterThan(15);
});

const withoutCode = ({ cause, claim, draw }: ReturnType<typeof casesOf>[number]) => ({
  ...{ cause, claim, draw },
});

test("causes repeat and are absent, and no drill is made of one or two", () => {
  const kinds = drawn.map((one) => new Set(one.map(({ cause }) => cause)).size);
  expect(kinds.some((n) => n < CAUSE_NAMES.length)).toBe(true);
  expect(drawn.some((one, i) => one.length > (kinds[i] as number))).toBe(true);
  expect(Math.min(...kinds)).toBeGreaterThan(2);
});

test("no claim gives its cause away, however many drills were seen before", () => {
  for (const claim of Object.values(CLAIMS).flat()) {
    const causes = drawn.flatMap((one) => one.filter((it) => it.claim === claim));
    const share = (cause: Cause) => causes.filter((it) => it.cause === cause).length;
    expect(Math.max(...CAUSE_NAMES.map(share)) / causes.length, claim).toBeLessThan(0.8);
  }
});

test("a folder that exists, a folder without cases and a case that is not there are refused", async () => {
  await expect(newDrill(cases, 0)).rejects.toThrow("exists");
  expect(existsSync(path.join(cases, "drill.json"))).toBe(true);
  await expect(markDrill(scratch, new Map())).rejects.toThrow("has no cases");
  await expect(markDrill(cases, new Map([[9, "policy"]]))).rejects.toThrow("no case 9");
});
