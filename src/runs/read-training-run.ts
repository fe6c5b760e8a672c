/** Reads a training run's folder, finished or not; a damaged file is refused by name and line. */

import { existsSync } from "node:fs";
import path from "node:path";
import type { ZodType } from "zod";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import {
  ALARMS,
  BASELINE,
  EVALUATIONS,
  KEPT,
  MANIFEST,
  METRICS,
  SAMPLES,
  STATES,
  SUMMARY,
  TIMING,
} from "./artifacts.ts";
import { requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { jsonObject } from "./schemas.ts";
import * as lines from "./train-records.ts";
import {
  type TrainManifest,
  type TrainSummary,
  trainManifestSchema,
  trainSummarySchema,
} from "./train-schemas.ts";
import { readVerification, verificationLine } from "./verification.ts";
import { parseWith, readArtifact, sha256OfFile } from "./whole-file.ts";

/** A line of metrics.jsonl with its numbers apart. */
export interface TrainingStep {
  readonly step: number;
  readonly outcomes: Readonly<Record<string, number>> | undefined;
  readonly values: Readonly<Record<string, number>>;
}

/** Everything that a training run has written. */
export interface TrainingRunRecords {
  readonly dir: string;
  readonly manifest: TrainManifest;
  /** As it stands in the file. */
  readonly manifestJson: JsonObject;
  /** Undefined while the run is unfinished. */
  readonly summary: TrainSummary | undefined;
  /** The files that are not what the summary was made from. */
  readonly edited: readonly string[];
  readonly steps: readonly TrainingStep[];
  readonly evaluations: readonly lines.EvaluationRecord[];
  readonly samples: readonly lines.SampleRecord[];
  /** Undefined where the run has no such file. */
  readonly alarms: readonly lines.Alarm[] | undefined;
  readonly timing: readonly lines.TimingRecord[];
  /** What was made again of it, in a line; undefined where nothing was. */
  readonly verification: string | undefined;
}

const HINT = "Restore it, or run the training again.";

export async function readTrainingRun(dir: string): Promise<TrainingRunRecords> {
  await requireKind(dir, ["train"]);
  const file = (name: string) => path.join(dir, name);
  if (!existsSync(file(MANIFEST)))
    throw dataError(`${dir} is not a training run: it has no ${MANIFEST}`, "Name its folder.");
  const manifestJson = await readArtifact(file(MANIFEST), jsonObject, HINT);
  const metrics = await readLines(file(METRICS), lines.stepRecordSchema);
  const optional = async <T>(name: string, schema: ZodType<T>) =>
    existsSync(file(name)) ? readLines(file(name), schema) : undefined;
  const evaluations = await optional(EVALUATIONS, lines.evaluationRecordSchema);
  const samples = await optional(SAMPLES, lines.sampleRecordSchema);
  const alarms = await optional(ALARMS, lines.alarmSchema);
  const timing = await optional(TIMING, lines.timingRecordSchema);
  const summary = existsSync(file(SUMMARY))
    ? await readArtifact(file(SUMMARY), trainSummarySchema, HINT)
    : undefined;
  const verified = summary && (await readVerification(dir));
  const hashes = [
    [METRICS, metrics.sha256, summary?.metrics_sha256],
    [EVALUATIONS, evaluations?.sha256, summary?.evaluations_sha256],
    [SAMPLES, samples?.sha256, summary?.samples_sha256],
    [ALARMS, alarms?.sha256, summary?.alarms_sha256],
    [STATES, await hashIf(file(STATES), summary?.states_sha256), summary?.states_sha256],
    [KEPT, await hashIf(file(KEPT), summary?.kept_sha256), summary?.kept_sha256],
    [BASELINE, await hashIf(file(BASELINE), summary?.baseline_sha256), summary?.baseline_sha256],
  ] as const;
  return {
    dir,
    manifest: await readArtifact(file(MANIFEST), trainManifestSchema, HINT),
    manifestJson,
    summary,
    edited: summary ? hashes.flatMap(([name, is, was]) => (is === was ? [] : [name])) : [],
    steps: metrics.rows.map(asStep),
    evaluations: evaluations?.rows ?? [],
    samples: samples?.rows ?? [],
    alarms: alarms?.rows,
    timing: timing?.rows ?? [],
    verification: verified && verificationLine(verified),
  };
}

/** Of a file that the summary has a hash of. */
async function hashIf(file: string, expected: string | undefined): Promise<string | undefined> {
  return expected === undefined || !existsSync(file) ? undefined : sha256OfFile(file);
}

function asStep({ step, outcomes, ...values }: lines.StepRecord): TrainingStep {
  return { step, outcomes, values: values as Record<string, number> };
}

/** The lines of a stream, each checked; one that does not fit is refused by file and line. */
export async function readLines<T>(
  file: string,
  schema: ZodType<T>,
): Promise<{ rows: T[]; sha256: string }> {
  const jsonl = new JsonlFile(file, (fields) => parseWith(schema, fields), { regular: true });
  const rows: T[] = [];
  for await (const batch of jsonl.batches()) rows.push(...batch);
  return { rows, sha256: jsonl.sha256 };
}
