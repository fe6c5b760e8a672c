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

/** Pays for answers of one digit: an axis whose mean can be counted by hand. */
const SHORT = `export const name = "short", version = "1", spec = "one digit";
export const score = (_: unknown, completion: string) => {
  const reward = Number(/^Final: \\d$/.test(completion));
  return { reward, code: reward === 1 ? "short" : "long", details: {} };
};
`;

async function measured(name: string, answers: readonly number[], axes: readonly Axis[]) {
  const file = (kind: string) => path.join(dir, `${name}.${kind}.jsonl`);
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const example = (_: number, i: number) => ({ id: `e${i}`, prompt: `${i}`, expected_answer: i });
  writeFileSync(file("d"), lines(answers.map(example)));
  writeFileSync(
    file("c"),
    lines(answers.map((answer, i) => ({ id: `e${i}`, completion: `Final: ${answer}` }))),
  );
  const outdir = path.join(dir, name);
  await evaluate({ dataset: file("d"), completions: file("c"), outdir, axes });
  return openRun(outdir);
}

test("axes give drift and the hallucination proxy; without them nothing is claimed", async () => {
  const scorer = path.join(dir, "short.ts");
  writeFileSync(scorer, SHORT);
  const axes = ["safety", "refusal", "hallucination"].map((name) => ({ name, scorer }));
  const before = await measured("before", [0, 1, 2, 3], axes);
  const after = await measured("after", [0, 11, 2, 33], axes);
  expect(await measureWeek(after, before, [])).toMatchObject({
    ...{ success: 0.5, safety_drift: -0.5, refusal_drift: -0.5 },
    hallucination_proxy: { value: 0.5, from: "1 − mean of the axis hallucination" },
  });
  const bare = await measured("bare", [0, 11, 2, 33], []);
  expect(await measureWeek(bare, before, [])).toMatchObject({
    ...{ safety_drift: null, refusal_drift: null },
    hallucination_proxy: { value: 0.5, from: "wrong answers among those that keep the format" },
  });
});
