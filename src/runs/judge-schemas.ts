/** What runs record of a judge: who it is, what it answered, what it cost. */

import { z } from "zod";
import { DROP_REASONS } from "../core/judge.ts";
import { judgeIdentitySchema } from "./judge-identity-schema.ts";
import { count, hash } from "./schema-parts.ts";

export const judgeTokensSchema = z.strictObject({
  prompt_tokens: count,
  completion_tokens: count,
});

export const SIDES = ["baseline", "candidate"] as const;

/** Why a group has no verdict. */
const dropped = z.strictObject({ type: z.enum(DROP_REASONS), message: z.string() });

/** A line of judgements.jsonl: one group. */
export const groupJudgementSchema = z.strictObject({
  /** Of the task. */
  id: z.string().min(1),
  /** In the order in which the judge saw them. */
  attempts: z.array(
    z.strictObject({
      /** Where two rollouts were judged together. */
      side: z.enum(SIDES).optional(),
      sample: count,
      /** Of the conversation as the judge saw it. */
      sha256: hash,
    }),
  ),
  /** What the judge wrote, from which the scores are read; absent of a dropped group. */
  answer: z.string().optional(),
  /** All attempts are the same, so that the answer is about one. */
  identical: z.literal(true).optional(),
  dropped: dropped.optional(),
  tokens: judgeTokensSchema,
});

/** A line of dropped.jsonl. */
export const droppedGroupSchema = z.strictObject({ id: z.string().min(1), ...dropped.shape });

/** Of a rollout whose rewards are a judge's. */
export const judgedRolloutSchema = z.strictObject({
  identity: judgeIdentitySchema,
  /** Of the trajectories that were judged. */
  trajectories_sha256: hash,
});

/** Of a run whose rewards are a judge's. */
export const judgedRunSchema = z.strictObject({
  identity: judgeIdentitySchema,
  /** Present where the attempts of two rollouts were judged in the same groups. */
  together: z
    .strictObject({
      /** Which of the two this run is. */
      side: z.enum(SIDES),
      /** Of their trajectories. */
      baseline_sha256: hash,
      candidate_sha256: hash,
    })
    .optional(),
});

/** What judging came to: tokens count the same whether an answer came from the cache or not. */
export const judgeSummarySchema = z.strictObject({
  /** Groups with a verdict. */
  groups: count,
  /** Groups whose attempts are all the same. */
  identical: count,
  /** Groups without a verdict, by type; they have no scores. */
  dropped: z.partialRecord(z.enum(DROP_REASONS), count),
  ...judgeTokensSchema.shape,
  /** Money for a million tokens, as it was stated; null when it was not. */
  price_in: z.number().nullable(),
  price_out: z.number().nullable(),
  total: z.number().nullable(),
});

/** In a volatile block: it differs between a run and its repetition from the cache. */
export const judgeTrafficSchema = z.strictObject({ requests: count, from_cache: count });

export type Side = (typeof SIDES)[number];
export type GroupJudgement = z.infer<typeof groupJudgementSchema>;
export type JudgedRollout = z.infer<typeof judgedRolloutSchema>;
export type JudgedRun = z.infer<typeof judgedRunSchema>;
export type JudgeSummary = z.infer<typeof judgeSummarySchema>;
