/**
 * Reads a training run's folder for people. Fields that nothing here needs may come and go: the
 * manifest and the summary are read leniently, the lines as src/learn/records.ts says.
 */

import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ZodType, z } from "zod";
import { dataError, ioError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { MANIFEST, SAMPLES, SUMMARY } from "./artifacts.ts";
import { JsonlFile } from "./jsonl.ts";
import { schemaProblem } from "./schema-problem.ts";
import { METRICS } from "./train-folder.ts";

export const EVALUATIONS = "evaluations.jsonl";
export const ALARMS = "alarms.jsonl";
export const TIMING = "timing.jsonl";

const step = z.int().min(0);
const counts = z.record(z.string(), z.number());
const anyObject = z.record(z.string(), z.json());

/** Every name besides `step` and `outcomes` is a number. */
const stepRecordSchema = z
  .object({ step, outcomes: counts.optional() })
  .catchall(z.number())
  .transform(({ step: at, outcomes, ...values }) => ({
    step: at as number,
    outcomes: outcomes as Record<string, number> | undefined,
    values: values as Readonly<Record<string, number>>,
  }));

const evaluationSchema = z.object({
  step,
  examples: z.int().min(0),
  pass_rate: z.number().min(0).max(1),
  reward_mean: z.number(),
  proxy_mean: z.number(),
  kl_exact: z.number().nullable(),
  entropy: z.number(),
  length_mean: z.number(),
  truncated: z.number(),
  repeated: z.number(),
  outcomes: counts,
  rewards: z.array(z.number().nullable()),
});

const sampleSchema = z.object({
  step,
  id: z.string(),
  prompt: z.string(),
  completion: z.string(),
  reward: z.number().nullable(),
  code: z.string(),
});

const alarmSchema = z.object({
  step,
  alarm: z.string(),
  stops: z.boolean(),
  message: z.string(),
  evidence: anyObject,
});

const timingSchema = z.object({
  step,
  sampling_s: z.number().min(0),
  scoring_s: z.number().min(0),
  logprobs_s: z.number().min(0),
  updating_s: z.number().min(0),
  evaluating_s: z.number().min(0),
});

const manifestSchema = z.looseObject({
  schema: z.string(),
  algorithm: z.string(),
  inputs: z
    .array(
      z.looseObject({ role: z.string(), path: z.string(), sha256: z.string(), rows: z.number() }),
    )
    .default([]),
  init_fingerprint: z.string().nullable().default(null),
  architecture: anyObject.default({}),
  settings: anyObject.default({}),
  scorers: z
    .array(z.looseObject({ role: z.string(), identity: z.looseObject({ name: z.string() }) }))
    .default([]),
});

const summarySchema = z.looseObject({
  steps: z.int(),
  tokens: z.number().optional(),
  checkpoint_fingerprint: z.string().optional(),
  metrics_sha256: z.string().optional(),
  evaluations_sha256: z.string().optional(),
  samples_sha256: z.string().optional(),
  alarms_sha256: z.string().optional(),
  /** Whether the frozen start was still the same at the end; null where there was none. */
  reference_frozen: z.boolean().nullish(),
  /** The one evaluation on the holdout set, and how many there were of the policies before. */
  holdout: z.looseObject({ before: z.number(), pass_rate: z.number().nullable() }).nullish(),
  /** Why it ended, and the step of the policy that was kept. */
  stop: z
    .looseObject({
      reason: z.string().catch("no reason was written"),
      step: z.number().optional(),
      kept: z.number().nullish().catch(undefined),
    })
    .nullish(),
});

export type TrainingStep = z.infer<typeof stepRecordSchema>;
export type TrainingEvaluation = z.infer<typeof evaluationSchema>;
export type TrainingSample = z.infer<typeof sampleSchema>;
export type TrainingAlarm = z.infer<typeof alarmSchema>;
export type TrainingTiming = z.infer<typeof timingSchema>;

export interface TrainingRun {
  readonly dir: string;
  readonly manifest: z.infer<typeof manifestSchema>;
  /** manifest.json with every field that it has. */
  readonly manifestJson: JsonObject;
  /** Undefined while the run is unfinished. */
  readonly summary: z.infer<typeof summarySchema> | undefined;
  /** The files that are not what the summary was made from. */
  readonly edited: readonly string[];
  readonly steps: readonly TrainingStep[];
  readonly evaluations: readonly TrainingEvaluation[];
  readonly samples: readonly TrainingSample[];
  /** Undefined where the run has no such file. */
  readonly alarms: readonly TrainingAlarm[] | undefined;
  readonly timing: readonly TrainingTiming[];
}

/** Reads all of a run, finished or not; a damaged file is refused by name and line. */
export async function readTrainingRun(dir: string): Promise<TrainingRun> {
  const manifestJson = await readManifest(dir);
  const summaryFile = path.join(dir, SUMMARY);
  const metrics = await readLines(path.join(dir, METRICS), stepRecordSchema);
  const hashes = new Map([[METRICS, metrics.sha256]]);
  const optional = async <T>(name: string, schema: ZodType<T>) => {
    const file = path.join(dir, name);
    if (!existsSync(file)) return undefined;
    const { rows, sha256 } = await readLines(file, schema);
    hashes.set(name, sha256);
    return rows;
  };
  const summary = existsSync(summaryFile)
    ? checked(summaryFile, await readJson(summaryFile), summarySchema)
    : undefined;
  const read = {
    evaluations: (await optional(EVALUATIONS, evaluationSchema)) ?? [],
    samples: (await optional(SAMPLES, sampleSchema)) ?? [],
    alarms: await optional(ALARMS, alarmSchema),
    timing: (await optional(TIMING, timingSchema)) ?? [],
  };
  const sealed = { ...summary } as Record<string, unknown>;
  const wanted = (name: string) => sealed[`${path.parse(name).name}_sha256`];
  return {
    dir,
    manifest: checked(path.join(dir, MANIFEST), manifestJson, manifestSchema),
    manifestJson,
    summary,
    edited: [METRICS, EVALUATIONS, SAMPLES, ALARMS].filter(
      (name) => wanted(name) !== undefined && wanted(name) !== hashes.get(name),
    ),
    steps: metrics.rows,
    ...read,
  };
}

async function readManifest(dir: string): Promise<JsonObject> {
  if (!existsSync(dir))
    throw dataError(`there is no run at ${dir}`, "Check the path, or make the run first.");
  if (!statSync(dir).isDirectory())
    throw dataError(`${dir} is a file, not a run folder`, "Name the folder.");
  const file = path.join(dir, MANIFEST);
  if (!existsSync(file))
    throw dataError(`${dir} is not a run: it has no ${MANIFEST}`, "Name the folder of a training.");
  const manifest = await readJson(file);
  const { schema } = manifest;
  if (typeof schema !== "string" || !/^lockedroom\.(?!train@)/.test(schema)) return manifest;
  throw dataError(
    `${dir} is not a training run: its ${MANIFEST} says ${schema}`,
    "inspect-run shows evaluations and selections; this is about what `train` wrote.",
  );
}

async function readJson(file: string): Promise<JsonObject> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
  try {
    return anyObject.parse(JSON.parse(text));
  } catch (error) {
    throw damaged(file, error);
  }
}

function checked<T>(file: string, value: unknown, schema: ZodType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw damaged(file, result.error);
}

function damaged(file: string, error: unknown): Error {
  return dataError(
    `${file} is damaged or of another version: ${schemaProblem(error)}`,
    "Restore it, or run the training again.",
  );
}

async function readLines<T>(
  file: string,
  schema: ZodType<T>,
): Promise<{ rows: T[]; sha256: string }> {
  const lines = new JsonlFile(file, (fields) => {
    const result = schema.safeParse(fields);
    if (result.success) return result.data;
    throw new TypeError(schemaProblem(result.error));
  });
  const rows: T[] = [];
  for await (const batch of lines.batches()) rows.push(...batch);
  return { rows, sha256: lines.sha256 };
}
