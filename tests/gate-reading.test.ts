/** What the gate prints, read as a user reads it: figures that agree, and notes that are true. */

import { expect, test } from "vitest";
import { gateText } from "../src/cli/commands/gate.ts";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { gateMarkdown } from "../src/gate/render.ts";
import { verdictReport } from "../src/report/gate/report.ts";
import { type Conditions, examplesOf, firstRight, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const NO_LOSS = { claim: "no-regression", margin: 0.1 } as const;

async function decided(
  baseline: Conditions,
  candidate: Conditions,
  options: Partial<GateOptions> = {},
) {
  const runs = [await makeRun(root, baseline), await makeRun(root, candidate)] as const;
  const report = await gate({ baseline: runs[0], candidate: runs[1], ...options });
  const text = gateText(report);
  for (const line of text.split("\n"))
    if (!line.includes(root)) expect(line.length, line).toBeLessThanOrEqual(80);
  return { report, text: text.replace(/\s+/g, " ") };
}

/** Of 60 examples the first `lost` are right before only, the next `gained` after only. */
const pair = (lost: number, gained: number, n = 60) => [
  {
    ...{ examples: examplesOf(n), provenance: { policy: { name: "a" } } },
    right: Array.from({ length: n }, (_, i) => i < lost || i >= lost + gained),
  },
  {
    ...{ examples: examplesOf(n), provenance: { policy: { name: "b" } } },
    right: Array.from({ length: n }, (_, i) => i >= lost),
  },
];

const asked = (system: string, temperature = 0, learning?: object) => ({
  ...(learning && { learning }),
  policy: { name: "a" },
  prompt: { system },
  sampling: { temperature, seed: 1 },
});

test("the same policy with another prompt or temperature is not sampling noise", async () => {
  const base = { right: firstRight(40, 10), provenance: asked("x") };
  const notes = async (provenance: object) =>
    (await decided(base, { right: firstRight(40, 30), provenance }, NO_LOSS)).report.notes;
  const same = "The policy is the same on both sides; what changed is";
  expect(await notes(asked("y"))).toContain(`${same} the prompt.`);
  expect(await notes(asked("x", 1))).toContain(`${same} the sampling settings.`);
  expect(await notes(asked("y", 1))).toContain(`${same} the prompt and the sampling settings.`);
  for (const provenance of [asked("y"), asked("x", 1)])
    expect((await notes(provenance)).join()).not.toContain("sampling noise");
  expect((await notes(asked("x"))).join()).toContain("any difference is sampling noise");
});

test("a prompt or temperature that differs names the commands that compare it", async () => {
  const base = { provenance: asked("x") };
  for (const [code, provenance] of [
    ["prompt_settings_differ", asked("y")],
    ["sampling_differs", asked("x", 1)],
  ] as const) {
    const { report } = await decided(base, { provenance }, { claim: "environment" });
    expect(report).toMatchObject({ exit_code: 3, reasons: [{ code }] });
    expect(report.reasons[0]?.message).toContain(
      "gate --claim no-regression --margin 0.02, or compare.",
    );
  }
});

test("interval and p-value agree, also where few rows flip", async () => {
  const [base, near] = pair(2, 9);
  const { report } = await decided(base as Conditions, near as Conditions);
  expect(report.p_value).toBeGreaterThan(0.05);
  expect(report.ci?.low).toBeLessThanOrEqual(0);
  const [before, after] = pair(0, 0);
  const still = await decided(before as Conditions, after as Conditions, NO_LOSS);
  expect(still.report.decision).toBe("PASS");
  // Without a flip in 60 rows, 1 - 0.025^(1/60) = 0.06 of the rows may still be lost.
  expect(still.report.ci?.low).toBeCloseTo(-0.06, 2);
  expect(-(still.report.ci?.low ?? 0)).toBeCloseTo(still.report.loss_bound ?? 0, 3);
  expect(still.text).toContain("p = 1 for no difference (exact McNemar)");
});

test("the p-value beside a loss that is ruled out is that of the margin", async () => {
  const [before, after] = pair(1, 3);
  const { report, text } = await decided(before as Conditions, after as Conditions, NO_LOSS);
  expect(report.decision).toBe("PASS");
  expect(report.margin_p_value).toBeLessThanOrEqual(0.025);
  expect(report.reasons[0]?.message).toMatch(/is ruled out \(one-sided p = 0\.0\d+\)/);
  expect(text).toMatch(/ruled out \(margin 0\.1: one-sided p = 0\.0\d+, level 0\.025\)/);
  const open = await decided(before as Conditions, after as Conditions, {
    ...NO_LOSS,
    margin: 0.02,
  });
  expect(open.report.decision).toBe("INCONCLUSIVE");
  expect(open.report.margin_p_value).toBeGreaterThan(0.025);
});

test("any loss is ruled out, not losses of 0.0000", async () => {
  const [before, after] = pair(0, 30);
  const { report, text } = await decided(before as Conditions, after as Conditions, NO_LOSS);
  expect(text).toContain("any loss is ruled out");
  expect(text).not.toContain("0.0000 or more");
  const page = (await verdictReport({ verdict: report })).html.replace(/<[^>]*>/g, " ");
  expect(page).toMatch(/Losses ruled out\s+any loss\s/);
});

test("of runs with the same answers nothing is tested", async () => {
  const packs = firstRight(20, 10).map((one) => [one, !one, one]);
  const side = { examples: examplesOf(20), packs, provenance: { policy: { name: "a" } } };
  const { text, report } = await decided(side, side, NO_LOSS);
  expect(text).toMatch(/^PASS .* nothing_changed The runs have the same answers/);
  expect(text).not.toMatch(/ruled out|p = |minimum detectable/);
  expect(gateMarkdown(report)).toContain("The runs have the same rewards.");
});

test("Markdown has columns for values only where a reason has some", async () => {
  const [before, after] = pair(0, 30);
  const { report } = await decided(before as Conditions, after as Conditions);
  expect(gateMarkdown(report)).toContain("| reason |  |\n|---|---|\n| `improvement` |");
  const other = await decided({ maxExamples: 39 }, { maxExamples: 40 });
  const markdown = gateMarkdown(other.report);
  expect(markdown).toMatch(/\| `example_count_differs` \| .* \| 39 \| 40 \|/);
  expect(markdown).not.toContain("not stated | not stated");
});

test("flips that are not shown are counted, with the command that shows them", async () => {
  const [before, after] = pair(0, 30);
  const { text } = await decided(before as Conditions, after as Conditions);
  expect(text).toContain(
    "… 24 more: add --report verdict.json, then report --verdict verdict.json",
  );
});

test("graded rewards and repeated samples have an interval with a width too", async () => {
  const packs = firstRight(20, 10).map((one) => [one, one, one]);
  const side = (name: string) => ({
    ...{ examples: examplesOf(20), packs, provenance: { policy: { name } } },
  });
  const { report } = await decided(side("a"), side("b"), NO_LOSS);
  expect(report).toMatchObject({ decision: "INCONCLUSIVE", test: "cluster_betting" });
  expect(report.ci?.low).toBeLessThan(-0.1);
  expect(report.ci?.high).toBeGreaterThan(0.1);
});
