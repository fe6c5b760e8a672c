/** What a training run's folder holds besides its checkpoint. */

import { z } from "zod";
import { SPLITS } from "../core/environment.ts";
import { TRAIN_SCHEMA, TRAIN_SUMMARY_SCHEMA } from "./artifacts.ts";
import { hash, inputFile, jsonObject, manifestSchema } from "./schemas.ts";

const { volatile } = manifestSchema.shape;

/** manifest.json: written at the start; a run is resumed only with the same one. */
export const trainManifestSchema = z.strictObject({
  schema: z.literal(TRAIN_SCHEMA),
  loop: z.literal("C"),
  command: z.literal("train"),
  algorithm: z.string(),
  /** Path null: tasks of the environment, and their hash is that of their canonical JSON lines. */
  inputs: z.array(
    inputFile.extend({ path: z.string().nullable(), split: z.enum(SPLITS).optional() }),
  ),
  /** The checkpoint that it began with; null for one from scratch. */
  init_fingerprint: z.string().nullable(),
  architecture: jsonObject,
  /** What held the weights, such as "local". */
  engine: z.string(),
  /** What episodes were played in; null for learning from files. */
  environment: jsonObject.nullable(),
  /** Where validation goes by the rewards of another environment with the same tasks. */
  validation_environment: jsonObject.optional(),
  settings: jsonObject,
  /** Scorers for reward, validation and cost, or the judge that rewards; none for supervised learning. */
  scorers: z.array(
    z.strictObject({ role: z.enum(["reward", "validation", "cost"]), identity: jsonObject }),
  ),
  /** Of a judge that rewards, what is no part of its identity. */
  judge: z
    .strictObject({
      /** Share of the groups that may stay without a verdict. */
      dropped_limit: z.number().min(0).max(1),
      /** Dollars per million tokens; null where it was not given. */
      price: z
        .strictObject({ prompt: z.number().min(0), completion: z.number().min(0) })
        .nullable(),
    })
    .optional(),
  volatile,
});

/** summary.json, written last. */
export const trainSummarySchema = z.strictObject({
  schema: z.literal(TRAIN_SUMMARY_SCHEMA),
  steps: z.int(),
  /** Tokens that were not padding. */
  tokens: z.int(),
  first_loss: z.number(),
  last_loss: z.number(),
  /** Why it ended: all steps done, an alarm, or a condition of the settings `stop`. */
  stop: z.strictObject({
    reason: z.string(),
    /** What the alarm or the condition said; absent where all steps are done. */
    message: z.string().optional(),
    step: z.int(),
    /** The step whose policy is in checkpoint/. */
    kept: z.int(),
  }),
  alarms: z.int(),
  /** Whether the frozen start was the same, to the bit, at the end; null where there was none. */
  reference_frozen: z.boolean().nullable(),
  /** Evaluations on the holdout set in this run, and in all runs that led to its start. */
  holdout: z.strictObject({
    evaluations: z.int(),
    before: z.int(),
    pass_rate: z.number().nullable(),
  }),
  checkpoint_fingerprint: z.string(),
  metrics_sha256: hash,
  evaluations_sha256: hash,
  samples_sha256: hash,
  alarms_sha256: hash,
  /** Of states.jsonl; runs of earlier releases have none. */
  states_sha256: hash.optional(),
  /** Of kept.jsonl, where samples were kept to learn from. */
  kept_sha256: hash.optional(),
  /** Of baseline.jsonl, where a judge compares with the initial policy. */
  baseline_sha256: hash.optional(),
  manifest_sha256: hash,
});

export type TrainManifest = z.infer<typeof trainManifestSchema>;
export type TrainSummary = z.infer<typeof trainSummarySchema>;
