/** The workflow of templates/ci: its commands are run as the workflow runs them. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { BIN, ROOT, start, Workspace } from "./cli.ts";

interface Workflow {
  readonly env: Record<string, string>;
  readonly jobs: { readonly gate: { readonly steps: readonly { readonly run?: string }[] } };
}
const { env, jobs } = parse(
  readFileSync(path.join(ROOT, "templates/ci/gate.yml"), "utf8"),
) as Workflow;

/** The exit code of each command up to the first that fails. */
async function workflow(lost: number): Promise<{ codes: (number | null)[]; report: string }> {
  const workspace = new Workspace();
  const numbers = Array.from({ length: 300 }, (_, i) => i);
  const answers = (wrong: number) =>
    numbers.map((i) => ({ id: `s${i}`, completion: `Final: ${i < wrong ? -1 : 2 * i}` }));
  workspace.jsonl(
    env.DATASET as string,
    numbers.map((i) => ({ id: `s${i}`, prompt: `Compute ${i} + ${i}.`, expected_answer: 2 * i })),
  );
  workspace.jsonl(env.BASELINE as string, answers(3));
  workspace.jsonl(env.CANDIDATE as string, answers(3 + lost));
  const codes: (number | null)[] = [];
  for (const { run } of jobs.gate.steps) {
    if (!run?.startsWith("npx lockedroom")) continue;
    const line = run.replace("npx lockedroom", `"${process.execPath}" "${BIN}"`);
    codes.push((await start("bash", ["-e", "-c", line], workspace.dir, { env }).finished).code);
    if (codes.at(-1) !== 0) break;
  }
  return { codes, report: workspace.read("gate.xml") };
}

test("an unchanged policy passes", async () => {
  const { codes, report } = await workflow(0);
  expect(codes).toEqual([0, 0, 0]);
  expect(report).toContain('tests="301" failures="0"');
}, 60_000);

test("one that lost a tenth is refused, and the report names what it lost", async () => {
  const { codes, report } = await workflow(30);
  expect(codes).toEqual([0, 0, 1]);
  expect(report).toContain('failures="31"');
  expect(report).toContain('name="s3">');
}, 60_000);
