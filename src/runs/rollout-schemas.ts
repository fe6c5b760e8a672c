/** What a rollout's files hold besides the answers, which are completion or selection-pack records. */

import { z } from "zod";
import { SPLITS } from "../core/environment.ts";
import type { Answer } from "../core/policy.ts";
import { ROLLOUT_SCHEMA, ROLLOUT_SUMMARY_SCHEMA } from "./artifacts.ts";
import { judgedRolloutSchema, judgeSummarySchema } from "./judge-schemas.ts";
import { count, hash, inputFile, jsonObject, manifestSchema } from "./schemas.ts";
import { timingSchema } from "./timing-schema.ts";
import { trajectorySchema } from "./trajectory-schema.ts";

const { fingerprint_version, examples, exposure, seeds_tried, volatile } = manifestSchema.shape;

/** An answer as a policy gave it: a sample of a pack, or with an id a row of completions. */
const answerSchema: z.ZodType<Answer> = z.object({
  completion: z.string(),
  finish: z.string(),
  prompt_tokens: count.nullable(),
  completion_tokens: count.nullable(),
  sum_logprob: z.number().optional(),
  logprobs: z.array(z.number()).optional(),
  sampled_logprobs: z.array(z.number()).optional(),
  refusal: z.string().optional(),
});

/** A line of journal.jsonl after the first: one answer, and which sample of which example it is. */
export const journalRowSchema = z.object({
  ...{ id: z.string(), sample: count, answer: answerSchema },
  /** Its latency in milliseconds. */
  ms: z.number().min(0).optional(),
});

/** The same of a rollout in an environment. */
export const journaledEpisodeSchema = z.object({
  ...{ id: z.string(), sample: count, trajectory: trajectorySchema },
});

/** What a rollout in an environment says besides. */
const inEnvironment = {
  /** Name, version, spec and hash of the code that gave observations and rewards. */
  environment: jsonObject,
  split: z.enum(SPLITS),
  /** Those of the environment; an endpoint is offered them. */
  tools: z.array(
    z.strictObject({ name: z.string(), description: z.string(), parameters: jsonObject }),
  ),
  /** The outcome codes of a solved task. */
  solved: z.array(z.string()),
};

/** manifest.json: data set or environment, policy, prompt and sampling settings. */
export const rolloutManifestSchema = z.strictObject({
  schema: z.literal(ROLLOUT_SCHEMA),
  fingerprint_version,
  command: z.enum(["rollout", "judge score"]),
  inputs: z.array(inputFile),
  examples,
  ...z.object(inEnvironment).partial().shape,
  /** Where the rewards are a judge's: who it is, and what it judged. */
  judge: judgedRolloutSchema.optional(),
  /** Answers to each example, or episodes of each task. */
  n: z.int().min(1),
  policy: jsonObject,
  prompt: jsonObject,
  sampling: jsonObject,
  exposure,
  seeds_tried,
  /** Of a resumed rollout: those of the last process. */
  volatile: volatile.extend({ timing: timingSchema.optional() }),
});

/** What the episodes of a rollout in an environment came to. */
const episodesSchema = z.strictObject({
  /** Episodes with a trajectory; all other numbers are of them. */
  n: count,
  /** Episodes without one, in failures.jsonl; they are in no rate and no mean. */
  n_failed: count,
  /** By type. */
  failures: z.record(z.string(), count),
  n_solved: count,
  /** Over episodes that have a reward, as the mean is; null where none has. */
  pass_rate: z.number().nullable(),
  reward_mean: z.number().nullable(),
  n_without_reward: count,
  /** Episodes that were cut short. */
  n_truncated: count,
  codes: z.record(z.string(), count),
  turns: z.strictObject({ total: count, mean: z.number(), most: count }),
  /** The mean of each metric over the episodes that have it. */
  metrics: z.record(z.string(), z.number()),
});

/** summary.json, written last. In an environment an answer is one turn of the policy. */
export const rolloutSummarySchema = z.strictObject({
  schema: z.literal(ROLLOUT_SUMMARY_SCHEMA),
  episodes: episodesSchema.optional(),
  n_examples: count,
  n_answers: count,
  n_empty: count,
  n_refused: count,
  n_with_logprobs: count,
  /** Finish reasons, as the policy gives them. */
  finish: z.record(z.string(), count),
  cost: z.strictObject({
    prompt_tokens: count,
    completion_tokens: count,
    /** Answers without token counts; they are not in the other numbers. */
    n_uncounted: count,
    /** Money for a million tokens, as it was stated; null when it was not. */
    price_in: z.number().nullable(),
    price_out: z.number().nullable(),
    total: z.number().nullable(),
  }),
  /** Of a rollout whose rewards are a judge's. */
  judge: judgeSummarySchema.optional(),
  /** Every other file of the rollout, by name. */
  files: z.record(z.string(), hash),
  /** Of manifest.json without its volatile block and without paths. */
  manifest_sha256: hash,
});

export type Journaled = Readonly<z.infer<typeof journalRowSchema>>;
export type JournaledEpisode = Readonly<z.infer<typeof journaledEpisodeSchema>>;
export type RolloutEpisodes = z.infer<typeof episodesSchema>;
export type RolloutManifest = z.infer<typeof rolloutManifestSchema>;
export type RolloutSummary = z.infer<typeof rolloutSummarySchema>;
