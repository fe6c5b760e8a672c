/** What a folder of preference data holds: pairs, labels, and what they were made of. */

import { z } from "zod";
import { PAIRS_SCHEMA, PAIRS_SUMMARY_SCHEMA } from "./artifacts.ts";
import { count, hash, manifestSchema } from "./schemas.ts";

const id = z.string().min(1);

/** A line of pairs.jsonl; a prompt may have several. */
export const pairRowSchema = z.strictObject({
  id,
  prompt: z.string(),
  chosen: z.string(),
  rejected: z.string(),
  chosen_reward: z.number(),
  rejected_reward: z.number(),
});

/** A line of labels.jsonl: each different sample of a prompt. */
export const labelRowSchema = z.strictObject({
  id,
  prompt: z.string(),
  completion: z.string(),
  /** Whether it earns the full mark. */
  label: z.boolean(),
  reward: z.number(),
});

const { fingerprint_version, inputs, examples, scorer, policy, prompt, sampling, volatile } =
  manifestSchema.shape;
const { exposure, seeds_tried } = manifestSchema.shape;

/** manifest.json: which samples were scored with which scorer, and how they were paired. */
export const pairsManifestSchema = z.strictObject({
  schema: z.literal(PAIRS_SCHEMA),
  fingerprint_version,
  command: z.literal("pairs"),
  inputs,
  examples,
  scorer,
  /** The policy that sampled, from the provenance file; null without one. */
  policy,
  prompt,
  sampling,
  exposure,
  seeds_tried,
  settings: z.strictObject({
    by: z.string(),
    margin: z.number().min(0),
    length_tolerance: z.number().min(0).nullable(),
    per_prompt: z.int().min(1),
    scorer_timeout_ms: z.int(),
  }),
  volatile,
});

/** Each prompt without a pair is counted once, under the first reason that applies. */
const withoutPair = z.strictObject({
  no_samples: count,
  scorer_error: count,
  invalid_example: count,
  all_passed: count,
  all_failed: count,
  below_margin: count,
  no_length_match: count,
});

/** Means over pairs; far apart, length is what a policy may learn. */
const lengths = z.strictObject({ chosen: z.number(), rejected: z.number() }).nullable();

/** summary.json, written last. */
export const pairsSummarySchema = z.strictObject({
  schema: z.literal(PAIRS_SUMMARY_SCHEMA),
  scorer: z.strictObject({ name: z.string(), version: z.string() }),
  n_prompts: count,
  n_with_pair: count,
  n_without_pair: count,
  share_without_pair: z.number().min(0).max(1),
  without_pair: withoutPair,
  n_pairs: count,
  /** Pairs that met every condition, taken or not. */
  n_eligible: count,
  n_labels: count,
  n_good: count,
  n_bad: count,
  n_samples: count,
  /** Samples with the text of an earlier one of the prompt. */
  n_repeated: count,
  /** Different samples with a scorer error; they are neither paired nor labelled. */
  n_scorer_errors: count,
  /** Code points. */
  mean_characters: lengths,
  /** Null unless the pack has the token count of every paired sample. */
  mean_tokens: lengths,
  unknown_packs: z.strictObject({ count, first_ids: z.array(z.string()) }),
  /** pairs.jsonl and labels.jsonl. */
  files: z.record(z.string(), hash),
  /** Of manifest.json without its volatile block and without paths. */
  manifest_sha256: hash,
});

export type PairRow = z.infer<typeof pairRowSchema>;
export type LabelRow = z.infer<typeof labelRowSchema>;
export type PairsManifest = z.infer<typeof pairsManifestSchema>;
export type PairsSummary = z.infer<typeof pairsSummarySchema>;
export type WithoutPair = keyof PairsSummary["without_pair"];
