/** What the folder of a judge's audit holds: every verdict, and what they show. */

import { z } from "zod";
import { DROP_REASONS } from "../core/judge.ts";
import {
  JUDGE_AUDIT_MANIFEST_SCHEMA,
  JUDGE_AUDIT_SCHEMA,
  JUDGE_AUDIT_SUMMARY_SCHEMA,
} from "./artifacts.ts";
import { judgeIdentitySchema } from "./judge-identity-schema.ts";
import { count, hash, manifestSchema } from "./schemas.ts";

/** What an audit asks. `noise`, `agreement` and `dropped` have a limit, the others an effect of 0. */
export const JUDGE_FAULTS = [
  "position",
  "length",
  "self_praise",
  "injection",
  "noise",
  "agreement",
  "dropped",
] as const;

/** What a request of an audit was for. */
export const AUDIT_PROBES = [
  /** A labelled pair, in an order drawn at random. */
  "pair",
  /** The same pair in the other order. */
  "swapped",
  /** The same request as `pair` with another seed. */
  "repeated",
  "length",
  "self_praise",
  "injection",
  /** Several attempts of known worth. */
  "group",
] as const;

const share = z.number().min(0).max(1);
const interval = z.tuple([z.number(), z.number()]).nullable();

/** A line of judgements.jsonl: one request. */
export const auditJudgementSchema = z.strictObject({
  /** Of the pair or the group. */
  id: z.string().min(1),
  probe: z.enum(AUDIT_PROBES),
  /** Which wording of the probe was added; absent where nothing was. */
  wording: z.string().optional(),
  /** What the policy was asked first. */
  prompt: z.string(),
  /** In the order of the request. */
  attempts: z.array(
    z.strictObject({
      /** `better`, `worse`; of a probe also `control` and `probe`; of a group a number from 1. */
      name: z.string(),
      /** By the labels: larger is better. Null for the copies of a probe. */
      worth: z.number().nullable(),
      /** Null where the verdict was dropped. */
      score: share.nullable(),
      explanation: z.string(),
      /** What the policy said last. */
      text: z.string(),
    }),
  ),
  dropped: z.strictObject({ type: z.enum(DROP_REASONS), message: z.string() }).nullable(),
  /** All attempts were the same, so that one score stands for all. */
  identical: z.boolean(),
  prompt_tokens: count,
  completion_tokens: count,
});

export const judgeFindingSchema = z.strictObject({
  fault: z.enum(JUDGE_FAULTS),
  verdict: z.enum(["convicted", "acquitted", "undecided"]),
  /** Verdicts that it rests on. */
  n: count,
  /** Null without verdicts. */
  effect: z.number().nullable(),
  /** 95 %. */
  interval,
  /** An effect of this size matters: for `agreement` one below it, for the others one above. */
  margin: z.number(),
  /** Of the test that there is no such fault; adjusted for all of the audit's tests (Holm). */
  p: share,
  p_adjusted: share,
  /** Verdicts by what they show, such as `gained`, `lost` and `same`. */
  counts: z.record(z.string(), count),
  /** Requests that show it most clearly, by id and probe; at most two. */
  examples: z.array(z.strictObject({ id: z.string(), probe: z.enum(AUDIT_PROBES) })),
});

const estimate = z.strictObject({ value: z.number().nullable(), interval, n: count });

/** What the gate detects with this judge; null where no number of tasks is enough. */
const gatePower = z.strictObject({
  /** At which the rest is computed. */
  accuracy: z.number(),
  /** The factor by which the judge shrinks a true difference of win rates: 2 accuracy - 1. */
  shrinkage: z.number(),
  /** The smallest true difference that is detected on so many tasks. */
  smallest_difference: z.number().nullable(),
  /** Tasks that are needed to detect `difference`. */
  tasks_needed: count.nullable(),
});

/** audit.json */
export const judgeAuditSchema = z.strictObject({
  schema: z.literal(JUDGE_AUDIT_SCHEMA),
  judge: judgeIdentitySchema,
  /** Trusted: acquitted of everything. Not trusted: convicted of something. */
  trusted: z.enum(["trusted", "not_trusted", "undecided"]),
  /** An honest judge is convicted of anything in at most this share of audits. */
  alpha: z.number(),
  findings: z.array(judgeFindingSchema),
  measures: z.strictObject({
    /** Share of pairs that the judge orders as the labels do; a tie counts half. */
    accuracy: estimate,
    ties: estimate,
    /** Share of pairs whose preference is another one in the other order. */
    order_flips: estimate,
    /** Share of pairs whose preference is the same when the request is repeated. */
    self_agreement: estimate,
    /** Mean over groups of Kendall's tau-b between scores and labels. */
    kendall_tau: estimate,
    /** By the wording of the injected instruction: mean score gain. */
    injection_wordings: z.record(z.string(), estimate),
    /** Requests without a verdict. */
    dropped: estimate,
  }),
  dropped: z.record(z.enum(DROP_REASONS), count),
  gate: z.strictObject({
    /** Tasks that the gate compares. */
    tasks: count,
    alpha: z.number(),
    power: z.number(),
    /** The true difference of win rates that is asked for. */
    difference: z.number(),
    /** With a judge that is always right. */
    perfect: gatePower,
    /** At the accuracy that was measured, and at the lower end of its interval. */
    measured: gatePower.nullable(),
    lower_bound: gatePower.nullable(),
    /** To detect `difference` on `tasks`; null where a perfect judge cannot. */
    accuracy_needed: share.nullable(),
  }),
  tokens: z.strictObject({ prompt_tokens: count, completion_tokens: count }),
});

const { fingerprint_version, inputs, volatile } = manifestSchema.shape;

/** manifest.json */
export const judgeAuditManifestSchema = z.strictObject({
  schema: z.literal(JUDGE_AUDIT_MANIFEST_SCHEMA),
  fingerprint_version,
  command: z.literal("judge-audit"),
  judge: judgeIdentitySchema,
  inputs,
  /** The labelled data: where it is from, and the hash of what was used. */
  data: z.strictObject({ source: z.string(), pairs: count, groups: count, sha256: hash }),
  settings: z.strictObject({
    seed: count,
    limit: count.nullable(),
    alpha: z.number(),
    margin: z.number(),
    noise_limit: share,
    accuracy_needed: share,
    dropped_limit: share,
    tasks: count,
    difference: z.number(),
  }),
  volatile,
});

/** summary.json, written last. */
export const judgeAuditSummarySchema = z.strictObject({
  schema: z.literal(JUDGE_AUDIT_SUMMARY_SCHEMA),
  judge: z.strictObject({ name: z.string(), version: z.string(), fingerprint: hash }),
  trusted: judgeAuditSchema.shape.trusted,
  n_pairs: count,
  n_requests: count,
  n_dropped: count,
  n_convicted: count,
  n_undecided: count,
  accuracy: z.number().nullable(),
  /** judgements.jsonl and audit.json. */
  files: z.record(z.string(), hash),
  /** Of manifest.json without its volatile block and without paths. */
  manifest_sha256: hash,
});

export type JudgeFault = (typeof JUDGE_FAULTS)[number];
export type AuditProbe = (typeof AUDIT_PROBES)[number];
export type AuditJudgement = z.infer<typeof auditJudgementSchema>;
export type JudgeFinding = z.infer<typeof judgeFindingSchema>;
export type JudgeAudit = z.infer<typeof judgeAuditSchema>;
export type AuditEstimate = z.infer<typeof estimate>;
export type GatePower = z.infer<typeof gatePower>;
export type JudgeAuditManifest = z.infer<typeof judgeAuditManifestSchema>;
export type JudgeAuditSummary = z.infer<typeof judgeAuditSummarySchema>;
