/** A sweep, held against the runs that it was made of. */

import path from "node:path";
import { z } from "zod";
import { canonicalJson } from "../../core/index.ts";
import { textOf } from "../workspace-files.ts";
import type { Place } from "./criterion.ts";
import type { Training } from "./training.ts";
import { ALL_DONE } from "./training-figures.ts";
import { kindOf, setting } from "./training-settings.ts";

const pointSchema = z.strictObject({
  value: z.json(),
  run: z.string(),
  pass_rate: z.number(),
  reward_mean: z.number(),
  proxy_mean: z.number(),
  kl_exact: z.number(),
  entropy: z.number(),
  length_mean: z.number(),
  stopped_by: z.string().nullable(),
});

const sweepSchema = z.strictObject({
  over: z.string(),
  algorithm: z.string(),
  points: z.array(pointSchema),
});

type Point = z.infer<typeof pointSchema>;

export interface Swept {
  readonly over: string;
  readonly points: number;
  /** Exact KL of the points. */
  readonly least: number;
  readonly most: number;
}

/** What a sweep shows, or why it shows nothing. */
export async function readSweep(
  { dir, trainings }: Place,
  file: string,
  fewest: number,
): Promise<Swept | string> {
  const parsed = sweepSchema.safeParse(jsonOf(textOf(dir, file) ?? ""));
  if (!parsed.success) return `${file} is not as sweep writes it.`;
  const { over, algorithm, points } = parsed.data;
  const runs: Training[] = [];
  for (const point of points) {
    const name = `${path.posix.dirname(file)}/${over}=${String(point.value)}`;
    const run = await trainings.open(name);
    if (typeof run === "string") return `${name}: ${run}`;
    if (run.manifest.algorithm !== algorithm || !agrees(run, over, point))
      return `${file}: the point ${String(point.value)} is not what its run says.`;
    runs.push(run);
  }
  if (over === "seed") return `${file}: seeds differ by luck, which is no trade-off.`;
  const different = new Set(runs.map(({ summary }) => summary.metrics_sha256)).size;
  if (different < fewest) return `${file}: ${different} different runs, not ${fewest}.`;
  if (new Set(runs.map(({ manifest }) => kindOf(manifest, [over]))).size > 1)
    return `${file}: its runs differ in more than ${over}.`;
  const drifts = points.map(({ kl_exact: kl }) => kl);
  return { over, points: different, least: Math.min(...drifts), most: Math.max(...drifts) };
}

function agrees({ manifest, summary, records }: Training, over: string, point: Point): boolean {
  const { value, run: _, stopped_by: stopped, ...figures } = point;
  const { evaluations } = records;
  const kept = evaluations.find(({ step }) => step === summary.stop.kept) ?? evaluations.at(-1);
  const measured = kept && { ...kept, kl_exact: kept.kl_exact ?? 0 };
  return (
    canonicalJson(setting(manifest, over) ?? null) === canonicalJson(value) &&
    stopped === (summary.stop.reason === ALL_DONE ? null : summary.stop.reason) &&
    Object.entries(figures).every(
      ([name, figure]) => measured?.[name as keyof typeof figures] === figure,
    )
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
