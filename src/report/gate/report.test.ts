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
    expect(text).toContain(message.replaceAll("<", "&lt;"));
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
    further: (before, after) => verifyBoth(before, after, { only: ["files", "score"] }),
  });
  const text = textOf((await verdictReport({ verdict })).html);
  expect(text).toContain("Effective number of examples: 20 of 40 (20 repeat a prompt).");
  expect(text).toContain("betting test of a bounded mean, whole prompts");
  expect(text).toContain("Candidate partly verified: files 3 of 3, score 40 of 40 (by lockedroom");
  expect(text).toContain("Files and scores verified; completions not: a policy that is not stated");
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

test("no regression: the margin is drawn, and the losses that are ruled out have a tile", async () => {
  const n = 400;
  const side = (name: string, lost: number) =>
    makeRun(folder.root, {
      examples: examplesOf(n),
      right: Array.from({ length: n }, (_, i) => i >= 20 + lost),
      provenance: { policy: { name } },
    });
  const [baseline, candidate] = [await side("a", 0), await side("b", 1)];
  const claim = { baseline, candidate, claim: "no-regression", margin: 0.05 } as const;
  const verdict = await gate(claim);
  expect(verdict.decision).toBe("PASS");
  const { html } = await verdictReport({ verdict });
  expect(html).toContain("margin −0.05");
  expect(textOf(html)).toMatch(/Losses ruled out 0\.0\d+ or more margin 0\.05/);
  const improvement = (await verdictReport({ verdict: await gate({ baseline, candidate }) })).html;
  expect(improvement).not.toContain("margin −0.05");
  expect(improvement).not.toContain("Losses ruled out");
});

test("p-values have the bound of the gate", async () => {
  const { verdict } = await decided("certain", 4, 39);
  const shown = textOf((await verdictReport({ verdict })).html);
  expect(verdict.p_value).toBeLessThan(0.0001);
  expect(shown).toContain("Significance p &lt; 0.0001");
  const near = textOf((await verdictReport({ verdict: { ...verdict, p_value: 0.0004 } })).html);
  expect(near).toContain("Significance p = 0.0004");
});

test("rates of repeated samples have the interval over prompts, and the page says which", async () => {
  const packs = (right: number) => Array.from({ length: 40 }, (_, i) => Array(5).fill(i < right));
  const make = (right: number) =>
    makeRun(folder.root, { examples: examplesOf(40), packs: packs(right) });
  const [baseline, candidate] = [await make(20), await make(30)];
  const { html } = await verdictReport({ verdict: await gate({ baseline, candidate }) });
  expect(html).toContain("bootstrap over 40 prompts");
  const figures = /baseline: 0\.5, (0\.\d+) to (0\.\d+)\. candidate/
    .exec(html)
    ?.slice(1)
    .map(Number);
  // All five samples agree, so that 200 rows say no more than 40: about 0.5 ± 1.96 √(0.25 / 40).
  expect(figures?.[0]).toBeCloseTo(0.345, 1);
  expect(figures?.[1]).toBeCloseTo(0.655, 1);
  const summary = JSON.parse(readFileSync(path.join(baseline, "summary.json"), "utf8"));
  expect(figures?.[0]).toBeCloseTo(summary.metrics.pass_rate_ci95[0], 2);

  const single = await decided("single", 10, 30);
  expect((await verdictReport({ verdict: single.verdict })).html).toContain(
    "those of the rates: Wilson.",
  );
});
