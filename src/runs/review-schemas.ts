/** What a folder of a review holds: a person's labels of pairs, and what the pairs were made of. */

import { z } from "zod";
import { REVIEW_SCHEMA, REVIEW_SUMMARY_SCHEMA } from "./artifacts.ts";
import { count, hash, inputFile, jsonObject, manifestSchema } from "./schemas.ts";

/** `a` is the answer of the baseline, `b` that of the candidate. */
const side = z.enum(["a", "b"]);

/** A line of labels.jsonl, in the order in which the pairs were shown. */
export const reviewLabelSchema = z.strictObject({
  id: z.string().min(1),
  prompt: z.string(),
  a: z.string(),
  b: z.string(),
  /** Absent where the person skipped the pair. */
  better: z.enum(["a", "b", "tie"]).optional(),
  /** Which of the two was shown as answer 1. */
  shown_first: side,
});

/** manifest.json: which pairs are labelled, and in which order. */
export const reviewManifestSchema = z.strictObject({
  schema: z.literal(REVIEW_SCHEMA),
  fingerprint_version: z.int(),
  command: z.literal("review"),
  inputs: z.array(inputFile),
  pairs: z.strictObject({
    /** Those to label. */
    count,
    /** Of the pairs themselves: a review is continued only with the same ones. */
    sha256: hash,
    /** Not shown, because both answers are the same. */
    identical: count,
    /** Without an answer in one of the two rollouts. */
    unpaired: count,
    /** Episodes of several turns cannot become pairs for training. */
    single_turn: z.boolean(),
  }),
  /** Who answered; null where the source does not say. */
  baseline: jsonObject.nullable(),
  candidate: jsonObject.nullable(),
  settings: z.strictObject({ seed: count, sample: z.int().min(1) }),
  volatile: manifestSchema.shape.volatile,
});

const interval = z.tuple([z.number(), z.number()]).nullable();

/** How often something happened, with the 95 % interval of its share. */
const share = z.strictObject({ count, of: count, share: z.number().nullable(), interval });

export const reviewFiguresSchema = z.strictObject({
  n_pairs: count,
  n_labelled: count,
  n_skipped: count,
  wins: count,
  losses: count,
  ties: count,
  /** Of the candidate; a tie counts as half. */
  win_rate: z.number().nullable(),
  win_rate_interval: interval,
  /** Of an exact sign test over the pairs that are no ties. */
  p_value: z.number().nullable(),
  /** How often answer 1 was chosen where one was chosen. */
  first_chosen: share,
  /** Of an exact test that 1 and 2 are chosen equally often. */
  first_p_value: z.number().nullable(),
});

/** summary.json, written last. */
export const reviewSummarySchema = reviewFiguresSchema.extend({
  schema: z.literal(REVIEW_SUMMARY_SCHEMA),
  /** labels.jsonl, and pairs.jsonl where the answers are single turns. */
  files: z.record(z.string(), hash),
  /** Of manifest.json without its volatile block and without paths. */
  manifest_sha256: hash,
});

export type ReviewLabel = z.infer<typeof reviewLabelSchema>;
export type ReviewManifest = z.infer<typeof reviewManifestSchema>;
export type ReviewFigures = z.infer<typeof reviewFiguresSchema>;
export type ReviewSummary = z.infer<typeof reviewSummarySchema>;
export type CountedShare = z.infer<typeof share>;
