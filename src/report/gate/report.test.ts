/** What the page about a verdict says. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reportFolder } from "../../../tests/fixtures/report-runs.ts";
import { examplesOf, firstRight, makeRun } from "../../../tests/gate-runs.ts";
import { gate } from "../../gate/gate.ts";
import { verifyBoth } from "../../verify/gate-checks.ts";
import { verdictReport } from "./report.ts";

const folder = reportFolder();
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/[\s\u00a0]+/g, " ");

/** The verdict on two evaluations. */
async function decided(name: string, before: number, after: number) {
  const baseline = await folder.evaluated(`${name}-before`, before);
  const candidate = await folder.evaluated(`${name}-after`, after);
  return { baseline, candidate, verdict: await gate({ baseline, candidate, minDelta: 0.02 }) };
}

test("a verdict: reasons, notes, the interval as a chart, flips with both completions", async () => {
  const { verdict } = await decided("better", 10, 30);
  const { html, runs } = await verdictReport({ verdict });
  const text = textOf(html);
  expect(runs[0]?.status).toBe(verdict.decision);
  expect(text).toContain(`${verdict.decision}. `);
  for (const { code, message } of verdict.reasons) {
    expect(text).toContain(code);
    expect(text).toContain(message);
  }
  for (const note of verdict.notes) expect(text).toContain(note);
  expect(text).toContain("Difference +0.5");
  expect(html).toContain("<title>Difference</title>");
  expect(html).toContain("min-delta 0.02");
  expect(text).toContain("Lost 0 rows None.");
  expect(text).toContain("Gained 20 rows");
  expect(text).toMatch(
    /baseline · wrong_answer · reward 0 Final: -7 parsed as -7 candidate · ok · reward 1 Final: 11 parsed as 11/,
  );
  expect(text).toContain("wrong_answer → ok 20 50.0 %");
  expect(html).not.toMatch(/<script|<img|Warning\./);
});

test("repeated prompts and what was made again are told beside the figures", async () => {
  const examples = examplesOf(40).map((example, i) => ({
    ...example,
    prompt: `Compute ${i % 20}.`,
  }));
  const make = (right: number) => makeRun(folder.root, { examples, right: firstRight(40, right) });
  const [baseline, candidate] = [await make(10), await make(36)];
  const verdict = await gate({
    ...{ baseline, candidate },
    further: (before, after) => verifyBoth(before, after, {}),
  });
  const text = textOf((await verdictReport({ verdict })).html);
  expect(text).toContain("Effective number of examples: 20 of 40 (20 repeat a prompt).");
  expect(text).toContain("sign-flip permutation test of whole prompts");
  expect(text).toMatch(/candidate verified: rows scored again 40 of 40/);
});

test("losses come first, and no more than twenty of each direction are shown", async () => {
  const { verdict } = await decided("worse", 35, 5);
  const html = (await verdictReport({ verdict })).html;
  expect(verdict.decision).toBe("REJECT");
  expect(textOf(html)).toContain("The first 20 of 30 rows are shown.");
  expect(html.match(/<article class="sample"/g)?.length).toBe(20);
  expect(html.indexOf(">Lost <")).toBeGreaterThan(0);
  expect(html.indexOf(">Lost <")).toBeLessThan(html.indexOf(">Gained <"));
});

test("runs that are not comparable have no difference and no flips", async () => {
  const baseline = await folder.evaluated("apart-before", 10);
  const candidate = await folder.evaluated("apart-after", 30);
  const file = path.join(candidate, "results.jsonl");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace('"expected_answer":3', '"expected_answer":4'),
  );
  const verdict = await gate({ baseline, candidate });
  const text = textOf((await verdictReport({ verdict })).html);
  expect(text).toContain("REJECT. The runs are not comparable.");
  expect(text).toContain("so no difference was measured");
  expect(text).toContain("so their rows are not compared");
  expect(text).toContain("Warning. The candidate was edited after it was written: results.jsonl");
});

test("a verdict from a file whose runs have changed or moved says so", async () => {
  const { verdict, candidate } = await decided("later", 10, 30);
  const file = path.join(candidate, "results.jsonl");
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, whole.replace('"reward":1', '"reward":0'));
  expect(textOf((await verdictReport({ verdict })).html)).toContain(
    "Warning. The runs are not what they were when the gate decided.",
  );
  writeFileSync(file, whole);
  expect((await verdictReport({ verdict })).html).not.toContain("Warning.");
  renameSync(candidate, folder.path("moved"));
  const text = textOf((await verdictReport({ verdict })).html);
  expect(text).toMatch(/The rows cannot be shown: there is no run at .*later-after/);
  expect(text).toContain("20 rows gained, 0 rows lost; the first of them:");
});
