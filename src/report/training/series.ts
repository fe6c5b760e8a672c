/** A metric over the steps of a run: its points, its start and end, and bins where there are many points. */

import type { Point } from "../../charts/spec.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";

/** The steps at which the metric was written. */
export function stepPoints({ steps }: TrainingRunRecords, metric: string): Point[] {
  return steps.flatMap(({ step, values }) =>
    values[metric] === undefined ? [] : [{ x: step, y: values[metric] }],
  );
}

/** The bin size that leaves at most `most` points. */
export function binSize(count: number, most: number): number {
  return Math.max(1, Math.ceil(count / most));
}

export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

/** Means of neighbouring points with their range, so that spikes stay visible. */
export function binned(points: readonly Point[], size: number): Point[] {
  if (size === 1) return [...points];
  return chunks(points, size).map((bin) => {
    const values = bin.map(({ y }) => y ?? 0);
    return {
      x: mean(bin.map(({ x }) => x)),
      y: mean(values),
      low: Math.min(...values),
      high: Math.max(...values),
    };
  });
}

export interface Ends {
  readonly start: number;
  readonly end: number;
}

/** Means of the first and the last tenth of the steps; undefined for fewer than two. */
export function endsOf(run: TrainingRunRecords, metric: string): Ends | undefined {
  const values = stepPoints(run, metric).map(({ y }) => y ?? 0);
  if (values.length < 2) return undefined;
  const tenth = Math.ceil(values.length / 10);
  return { start: mean(values.slice(0, tenth)), end: mean(values.slice(-tenth)) };
}

/** From the evaluations where there are two, otherwise from the steps. */
export function startAndEnd(
  run: TrainingRunRecords,
  metric: string,
  measure: "repeated" | "entropy" | "length_mean",
): Ends | undefined {
  const [start, end] = [run.evaluations[0], run.evaluations.at(-1)];
  if (start === undefined || end === undefined || start === end) return endsOf(run, metric);
  return { start: start[measure], end: end[measure] };
}

export function lastOf({ steps }: TrainingRunRecords, metric: string): number | undefined {
  return steps.findLast(({ values }) => values[metric] !== undefined)?.values[metric];
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
