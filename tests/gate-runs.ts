/** Real runs for the gate's tests, made by the real evaluation in a temporary folder. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { evaluate } from "../src/loops/eval.ts";
import { openScorer } from "../src/scorers/open.ts";

export interface Conditions {
  readonly examples?: readonly { id: string; prompt: string; expected_answer: unknown }[];
  /** Whether each example is answered right; undefined leaves the completion out. */
  readonly right?: readonly (boolean | undefined)[];
  readonly completions?: readonly string[];
  readonly scorer?: string;
  readonly provenance?: object;
  readonly maxExamples?: number;
}

export const folder = (): string => mkdtempSync(path.join(tmpdir(), "lockedroom-gate-"));

export const examplesOf = (n: number, prefix = "ex") =>
  Array.from({ length: n }, (_, i) => ({
    id: `${prefix}-${i}`,
    prompt: `Compute ${i} + 1.`,
    expected_answer: i + 1,
  }));

/** The first `k` of `n` answered right. */
export const firstRight = (n: number, k: number): boolean[] =>
  Array.from({ length: n }, (_, i) => i < k);

let made = 0;

export async function makeRun(root: string, conditions: Conditions): Promise<string> {
  const name = path.join(root, `run-${made++}`);
  const { examples = examplesOf(40), provenance } = conditions;
  const right = conditions.right ?? firstRight(examples.length, examples.length / 2);
  const rows = examples.flatMap(({ id, expected_answer }, i) => {
    const given = conditions.completions?.[i];
    if (given === undefined && right[i] === undefined) return [];
    return [{ id, completion: given ?? `Final: ${right[i] ? expected_answer : "999999"}` }];
  });
  const dataset = `${name}.dataset.jsonl`;
  const completions = `${name}.completions.jsonl`;
  writeFileSync(dataset, jsonl(examples));
  writeFileSync(completions, jsonl(rows));
  if (provenance) {
    writeFileSync(
      `${name}.completions.provenance.json`,
      JSON.stringify({ schema: "lockedroom.provenance@1", ...provenance }),
    );
  }
  const scorer = await openScorer(conditions.scorer, { timeoutMs: 200 });
  await evaluate({
    dataset,
    completions,
    outdir: name,
    scorer,
    maxExamples: conditions.maxExamples,
  });
  return name;
}

const jsonl = (rows: readonly unknown[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");
