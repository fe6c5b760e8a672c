/** Real runs for the gate's tests, made by the real evaluation in a temporary folder. */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sha256 } from "../src/core/fingerprint.ts";
import { canonicalJson } from "../src/core/json.ts";
import { promptFingerprint } from "../src/core/prompt-fingerprint.ts";
import type { Axis } from "../src/loops/axes.ts";
import { evaluate } from "../src/loops/eval.ts";
import { manifestFingerprint } from "../src/runs/manifest.ts";
import type { Manifest, ResultRow, Summary } from "../src/runs/schemas.ts";
import { openScorer } from "../src/scorers/open.ts";
import { AxisMeans } from "../src/stats/axis-means.ts";

export interface Conditions {
  readonly examples?: readonly { id: string; prompt: string; expected_answer: unknown }[];
  /** Whether each example is answered right; undefined leaves the completion out. */
  readonly right?: readonly (boolean | undefined)[];
  readonly completions?: readonly string[];
  readonly scorer?: string;
  readonly provenance?: object;
  readonly maxExamples?: number;
  readonly slice?: readonly string[];
  readonly axes?: readonly Axis[];
  /** Packs of samples instead of completions: whether each is right. */
  readonly packs?: readonly (readonly boolean[])[];
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
  const rows = examples.flatMap(({ id, prompt, expected_answer }, i) => {
    const given = conditions.completions?.[i];
    if (given === undefined && right[i] === undefined) return [];
    const completion = given ?? `Final: ${right[i] ? expected_answer : "999999"}`;
    return [{ id, prompt_fingerprint: promptFingerprint(prompt), completion }];
  });
  const packs = conditions.packs?.map((samples, i) => ({
    id: examples[i]?.id,
    prompt_fingerprint: promptFingerprint(examples[i]?.prompt ?? ""),
    samples: samples.map((one) => `Final: ${one ? examples[i]?.expected_answer : "999999"}`),
  }));
  const dataset = `${name}.dataset.jsonl`;
  const completions = `${name}.completions.jsonl`;
  writeFileSync(dataset, jsonl(examples));
  writeFileSync(completions, jsonl(packs ?? rows));
  if (provenance) {
    writeFileSync(
      `${name}.completions.provenance.json`,
      JSON.stringify({ schema: "lockedroom.provenance@1", prompts_by_row: true, ...provenance }),
    );
  }
  const scorer = await openScorer(conditions.scorer, { timeoutMs: 200 });
  await evaluate({
    dataset,
    completions,
    outdir: name,
    scorer,
    maxExamples: conditions.maxExamples,
    slice: conditions.slice,
    axes: conditions.axes,
    repeats: conditions.packs?.[0]?.length,
  });
  return name;
}

interface Forgery {
  readonly row?: (row: ResultRow, index: number) => ResultRow;
  readonly manifest?: (manifest: Manifest) => Manifest;
}

/** Edits a run and makes every hash and every figure of it agree again. */
export function forge(dir: string, { row = (it) => it, manifest = (it) => it }: Forgery): void {
  const file = (name: string) => path.join(dir, name);
  const rows = readFileSync(file("results.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line, i) => row(JSON.parse(line), i));
  const results = rows.map((one) => `${canonicalJson(one)}\n`).join("");
  const edited = manifest(JSON.parse(readFileSync(file("manifest.json"), "utf8")));
  const summary: Summary = JSON.parse(readFileSync(file("summary.json"), "utf8"));
  const rewards = rows.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const passed = rewards.filter((reward) => reward >= 1).length;
  const counts: Record<string, number> = {};
  for (const { outcome_code: code } of rows) counts[code] = (counts[code] ?? 0) + 1;
  const metrics = {
    ...summary.metrics,
    pass_rate: passed / rewards.length,
    mean_reward: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    n_pass: passed,
    n_fail: rewards.length - passed,
  };
  const means = new AxisMeans();
  for (const { axes: scores, sample } of rows) means.add(scores, sample);
  const axes = means.table();
  const hashes = { results_sha256: sha256(results), manifest_sha256: manifestFingerprint(edited) };
  writeFileSync(file("results.jsonl"), results);
  writeFileSync(file("manifest.json"), JSON.stringify(edited));
  writeFileSync(
    file("summary.json"),
    JSON.stringify({ ...summary, metrics, outcomes: { counts }, ...(axes && { axes }), ...hashes }),
  );
}

const jsonl = (rows: readonly unknown[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");
