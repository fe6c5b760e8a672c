/** Small files of the laboratory, and edits of finished runs, with or without new hashes. */

import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { SequenceFingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import { MANIFEST, RESULTS, SUMMARY } from "../runs/artifacts.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import { artifactJson } from "../runs/run-folder.ts";
import type { Manifest, ResultRow, Summary } from "../runs/schemas.ts";
import { AxisMeans } from "../stats/axis-means.ts";

export const jsonl = (rows: Iterable<unknown>): string =>
  [...rows].map((row) => `${JSON.stringify(row)}\n`).join("");

export async function writeText(file: string, text: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

export async function editText(file: string, edit: (text: string) => string): Promise<void> {
  const before = await readFile(file, "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`the edit of ${path.basename(file)} changed nothing`);
  await writeFile(file, after);
}

export async function readRows<T>(file: string): Promise<T[]> {
  const text = await readFile(file, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

export async function readJson<T = JsonObject>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, "utf8")) as T;
}

export async function copyFolder(from: string, to: string): Promise<string> {
  await cp(from, to, { recursive: true });
  return to;
}

/** How a forger changes a run. Counts and hashes are made to fit, except where they are left stale. */
export interface Forgery {
  readonly row?: (row: ResultRow, index: number) => ResultRow;
  readonly manifest?: (manifest: Manifest) => Manifest;
  /** Leave the hash of the completions as it was. */
  readonly staleAnswers?: boolean;
}

/** Edits a copy of a run and computes counts and hashes again, as a careful forger would. */
export async function forge(dir: string, { row, manifest, staleAnswers }: Forgery): Promise<void> {
  const file = (name: string) => path.join(dir, name);
  const before = await readRows<ResultRow>(file(RESULTS));
  const rows = row ? before.map(row) : before;
  const text = jsonl(rows);
  await writeFile(file(RESULTS), row ? text : await readFile(file(RESULTS)));
  const old = await readJson<Manifest>(file(MANIFEST));
  const edited = manifest ? manifest(old) : old;
  const answered = row && !staleAnswers ? { answers_sha256: answersOf(rows) } : {};
  const next: Manifest = { ...edited, ...answered };
  await writeFile(file(MANIFEST), artifactJson(next));
  const summary = await readJson<Summary>(file(SUMMARY));
  await writeFile(
    file(SUMMARY),
    artifactJson({
      ...summary,
      ...(row && countsOf(summary, rows)),
      results_sha256: sha256(await readFile(file(RESULTS))),
      manifest_sha256: manifestFingerprint(next),
    }),
  );
}

function axisMeansOf(rows: readonly ResultRow[]): Summary["axes"] {
  const means = new AxisMeans();
  for (const { axes, sample } of rows) means.add(axes, sample);
  return means.table();
}

function answersOf(rows: readonly ResultRow[]): string {
  const answered = new SequenceFingerprint();
  for (const { id, completion } of rows) answered.add(JSON.stringify([id, completion]));
  return answered.digest();
}

function countsOf({ metrics, axes }: Summary, rows: readonly ResultRow[]): Partial<Summary> {
  const passed = rows.filter(({ reward }) => reward !== null && reward >= 1).length;
  const counts: Record<string, number> = {};
  for (const { outcome_code: code } of rows) counts[code] = (counts[code] ?? 0) + 1;
  const rewards = rows.reduce((sum, { reward }) => sum + (reward ?? 0), 0);
  return {
    metrics: {
      ...metrics,
      n_pass: passed,
      n_fail: metrics.n_scored - passed,
      pass_rate: passed / metrics.n_scored,
      mean_reward: rewards / metrics.n_scored,
    },
    outcomes: { counts },
    ...(axes !== undefined && { axes: axisMeansOf(rows) }),
  };
}
