/** Sweeps: runs that differ in one setting, and the trade-off between two of their measures. */

import path from "node:path";
import { canonicalJson, type Json } from "../../core/index.ts";
import { tradeoffOf } from "../../curves/index.ts";
import {
  ALL_STEPS_DONE,
  type SweepPoint,
  sweepSchema,
  type Tradeoff,
  tradeoffSchema,
} from "../../runs/index.ts";
import { parseJson } from "../evidence.ts";
import { textOf } from "../workspace-files.ts";
import type { PlanContext } from "./criterion.ts";
import { setting, settingsFingerprint, type Training } from "./training.ts";

export interface ReadSweep {
  readonly over: string;
  readonly algorithm: string;
  /** In the order of the values. */
  readonly runs: readonly { readonly value: Json; readonly run: Training }[];
  /** How many of the runs differ. */
  readonly different: number;
}

/** A sweep whose runs are intact and differ only in its setting, or why it is not valid. */
export async function readSweep(
  { dir, trainings }: PlanContext,
  file: string,
): Promise<ReadSweep | string> {
  const parsed = sweepSchema.safeParse(parseJson(textOf(dir, file)));
  if (!parsed.success) return `${file} is not what sweep writes.`;
  const { over, algorithm, points } = parsed.data;
  const runs: { value: Json; run: Training }[] = [];
  for (const point of points) {
    const name = `${path.posix.dirname(file)}/${over}=${String(point.value)}`;
    const run = await trainings.open(name);
    if (typeof run === "string") return `${name}: ${run}`;
    if (run.manifest.algorithm !== algorithm || !agrees(run, over, point))
      return `${file}: the point ${String(point.value)} differs from its run.`;
    runs.push({ value: point.value as Json, run });
  }
  const different = new Set(runs.map(({ run }) => run.summary.metrics_sha256)).size;
  if (new Set(runs.map(({ run }) => settingsFingerprint(run.manifest, [over]))).size > 1)
    return `${file}: its runs differ in more than ${over}.`;
  return { over, algorithm, runs, different };
}

function agrees(
  { manifest, summary, records }: Training,
  over: string,
  point: SweepPoint,
): boolean {
  const { value, run: _, stopped_by: stopped, ...figures } = point;
  const { evaluations } = records;
  const final = evaluations.find(({ step }) => step === summary.stop.kept) ?? evaluations.at(-1);
  return (
    canonicalJson(setting(manifest, over) ?? null) === canonicalJson(value) &&
    stopped === (summary.stop.reason === ALL_STEPS_DONE ? null : summary.stop.reason) &&
    Object.entries(figures).every(
      ([name, figure]) => final?.[name as keyof typeof figures] === figure,
    )
  );
}

/** The trade-off curve of a sweep, made again from its runs, or why it is not valid. */
export function readTradeoff(
  { dir }: PlanContext,
  file: string,
  { over, algorithm, runs }: ReadSweep,
): Tradeoff | string {
  const parsed = tradeoffSchema.safeParse(parseJson(textOf(dir, file)));
  if (!parsed.success) return `${file} is not what sweep writes.`;
  const { x, y } = parsed.data;
  const again = tradeoffOf(
    {
      ...{ over, algorithm },
      runs: runs.map(({ value, run }) => ({
        ...{ value, name: path.posix.basename(run.path), run: run.records },
      })),
    },
    { x: x.name, y: y.name },
  );
  return canonicalJson(again as never) === canonicalJson(parsed.data as never)
    ? again
    : `${file} has other figures than its runs.`;
}
