/** The gate scores the rows of a grader again, from the JSON that the manifest has. */

import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { firstRight, folder, forge, makeRun } from "../../tests/gate-runs.ts";
import { gate } from "./gate.ts";

const root = folder();

function grader(name: string, reference: string, operation = "eq"): string {
  const place = path.join(root, `${name}.json`);
  const check = { type: "string_check", name: "exact", operation, reference };
  writeFileSync(place, JSON.stringify({ ...check, input: "{{sample.output_text}}" }));
  return place;
}

const exact = grader("exact", "Final: {{item.expected_answer}}");
const policy = (name: string) => ({ provenance: { policy: { name } } });
const weak = (scorer: string) =>
  makeRun(root, { scorer, ...policy("a"), right: firstRight(40, 5) });
const strong = (scorer: string) =>
  makeRun(root, { scorer, ...policy("b"), right: firstRight(40, 40) });

const codes = async (baseline: string, candidate: string) =>
  (await gate({ baseline, candidate, claim: "policy" })).reasons.map(({ code }) => code);

test("an honest improvement is promoted, with rows that are written anew as well", async () => {
  const [baseline, candidate] = [await weak(exact), await strong(exact)];
  forge(candidate, {});
  expect(await gate({ baseline, candidate, claim: "policy" })).toMatchObject({
    decision: "PROMOTE",
  });
});

test("rewards that were edited with all hashes are found, without the grader's file", async () => {
  const place = grader("gone", "Final: {{item.expected_answer}}");
  const [baseline, candidate] = [await weak(place), await weak(place)];
  const passed = { reward: 1, outcome_code: "match" };
  forge(candidate, { row: (row) => ({ ...row, ...passed }) });
  writeFileSync(place, "{}");
  expect(await codes(baseline, candidate)).toContain("rewards_differ_from_scorer");
});

test("a grader that was changed is another instrument", async () => {
  const lenient = grader("lenient", "Final", "like");
  const found = await codes(await weak(exact), await weak(lenient));
  expect(found).toContain("scorer_version_differs");
  expect(found).toContain("scorer_source_differs");
});

test("what rows do not repeat is not scored again, and the gate says so", async () => {
  const elsewhere = grader("elsewhere", "{{item.answer}}");
  const examples = Array.from({ length: 40 }, (_, i) => ({
    ...{ id: `ex-${i}`, prompt: `Compute ${i}.`, expected_answer: i, answer: `Final: ${i}` },
  }));
  const run = (name: string, right: number) =>
    makeRun(root, { examples, scorer: elsewhere, ...policy(name), right: firstRight(40, right) });
  const [baseline, candidate] = [await run("a", 5), await run("b", 40)];
  const report = await gate({ baseline, candidate, claim: "policy" });
  expect(report.decision).toBe("PROMOTE");
  expect(report.notes.join(" ")).toContain("exact reads item.answer, which rows do not repeat");
});

test("a recorded grader that is more than a computation is not opened", async () => {
  const [baseline, candidate] = [await weak(exact), await weak(exact)];
  const input = [{ role: "user", content: "{{sample.output_text}}" }];
  const asked = { type: "score_model", name: "exact", model: "any", input };
  forge(candidate, {
    manifest: (it) => ({ ...it, scorer: { ...it.scorer, grader: asked } }),
  });
  const { notes } = await gate({ baseline, candidate, claim: "policy" });
  expect(notes.join(" ")).toContain("is not computed from its JSON alone");
});
