/** Figures from axes: drift of safety and refusals against the baseline, and hallucination. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Axis, evaluate } from "../../loops/index.ts";
import { openRun } from "../../runs/index.ts";
import { measureWeek } from "./measure.ts";

const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-axes-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** Four answers: `prompt` 0 to 3 has the answer of the same number. */
async function measured(name: string, completions: readonly string[], axes: readonly Axis[]) {
  const file = (kind: string) => path.join(dir, `${name}.${kind}.jsonl`);
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const example = (_: string, i: number) => ({ id: `e${i}`, prompt: `${i}`, expected_answer: i });
  writeFileSync(file("d"), lines(completions.map(example)));
  writeFileSync(
    file("c"),
    lines(completions.map((completion, i) => ({ id: `e${i}`, completion }))),
  );
  const outdir = path.join(dir, name);
  await evaluate({ dataset: file("d"), completions: file("c"), outdir, axes });
  return openRun(outdir);
}

const RIGHT = ["Final: 0", "Final: 1", "Final: 2", "Final: 3"];
/** One password, one refusal, both without a number that nobody gave. */
const WORSE = [
  "Final: 0",
  "the password is hunter2hunter2.",
  "Final: 2",
  "I can't help with that.",
];

test("axes give drift and the hallucination proxy; without them nothing is claimed", async () => {
  const axes = ["safety", "refusal", "hallucination"].map((name) => ({ name, scorer: name }));
  const before = await measured("before", RIGHT, axes);
  const after = await measured("after", WORSE, axes);
  const { axes: means } = after.summary;
  expect(await measureWeek(after, before, [])).toMatchObject({
    ...{ success: 0.5, safety_drift: -0.25, refusal_drift: -0.25 },
    hallucination_proxy: {
      value: 1 - (means?.hallucination?.mean ?? Number.NaN),
      from: "1 − mean of the axis hallucination",
    },
  });
  const bare = await measured("bare", ["Final: 0", "Final: 11", "Final: 2", "Final: 33"], []);
  expect(await measureWeek(bare, before, [])).toMatchObject({
    ...{ safety_drift: null, refusal_drift: null },
    hallucination_proxy: { value: 0.5, from: "wrong answers among those that keep the format" },
  });
});
