/** The gate's report, as `gate --format json` prints it. */

import { z } from "zod";
import { hash } from "./schemas.ts";
import { madeAgainSchema, PARTS } from "./verification.ts";

export const GATE_SCHEMA = "lockedroom.gate@1";

const value = z.json();
const knob = z.enum(["measurement", "selection", "policy", "environment"]);
const change = z.enum([...knob.options, "unknown"]);

export const reasonSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  baseline: value,
  candidate: value,
});

const side = z.strictObject({
  run: z.string(),
  pass_rate: z.number().nullable(),
  mean_reward: z.number().nullable(),
  n_scored: z.int(),
});

const seal = z.enum(["valid", "seal_missing", "seal_invalid", "seal_by_another_key"]);
const interval = z.strictObject({ low: z.number(), high: z.number(), confidence: z.number() });

/** What is measured of a part of the comparison: of a slice, and of an axis. */
const PART = {
  n: z.int(),
  /** Different prompts, where they repeat: what the test and `needed` count. */
  prompts: z.int().optional(),
  /** Mean rewards: pass rates where every reward is 0 or 1. */
  baseline: z.number(),
  candidate: z.number(),
  gained: z.int(),
  lost: z.int(),
  delta: z.number().nullable(),
  ci: interval.nullable(),
  p_value: z.number().nullable(),
  /** Holm's correction for the number of parts. */
  p_holm: z.number(),
} as const;

export const gateReportSchema = z.strictObject({
  schema: z.literal(GATE_SCHEMA),
  /** `PASS` answers a claim of no regression, `PROMOTE` one of improvement. */
  decision: z.enum(["PROMOTE", "PASS", "REJECT", "INCONCLUSIVE"]),
  exit_code: z.int(),
  comparable: z.boolean(),
  /** `unknown`: the answers differ, and a run does not state which policy gave them. */
  knobs: z.array(change),
  /** Of a claim of no regression, which allows several: what differs, such as policy, prompt, sampling. */
  changed: z.array(z.string()).optional(),
  claim: z.enum([...knob.options, "no-regression"]).nullable(),
  reasons: z.array(reasonSchema),
  /** Codes that would have refused the comparison, and that the caller allowed. */
  allowed: z.array(z.string()).optional(),
  /** Things to know that did not decide. */
  notes: z.array(z.string()),
  baseline: side,
  candidate: side,
  /** Null when the runs are not comparable: there is no difference between unlike things. */
  delta: z.number().nullable(),
  ci: interval.nullable(),
  p_value: z.number().nullable(),
  /**
   * Of pass or fail McNemar's; of other rewards a betting test, and without a known range a sign-flip test.
   * `cluster_`: prompts repeat, so whole prompts are tested, not rows.
   */
  test: z
    .enum(["mcnemar_exact", "betting", "cluster_betting", "sign_flip", "cluster_sign_flip"])
    .nullable(),
  minimum_detectable_effect: z.number().nullable(),
  flips: z
    .strictObject({
      gained: z.int(),
      lost: z.int(),
      first: z.array(
        z.strictObject({
          id: z.string(),
          baseline: z.string(),
          candidate: z.string(),
          change: z.number(),
        }),
      ),
    })
    .nullable(),
  min_delta: z.number(),
  /** Of a claim of no regression: the loss to be ruled out, and the smallest that is; null without any. */
  margin: z.number().optional(),
  loss_bound: z.number().nullable().optional(),
  /** Of the test of the margin, one-sided, so half of the level decides; null if above 0.5 or unknown. */
  margin_p_value: z.number().nullable().optional(),
  /** The range of rewards that a bound rests on: declared by the scorer, or stated by the caller. */
  reward_range: z
    .strictObject({
      low: z.number(),
      high: z.number(),
      source: z.enum(["scorer", "caller"]),
    })
    .optional(),
  alpha: z.number(),
  /** Where a policy was sampled with several seeds: how many, and the corrected significance level. */
  seeds_tried: z
    .strictObject({
      baseline: z.int().nullable(),
      candidate: z.int().nullable(),
      level: z.number(),
    })
    .optional(),
  /** Where prompts repeat: rows that repeat an earlier one, and Kish's effective number of examples. */
  repeated_prompts: z.int().optional(),
  effective_examples: z.number().optional(),
  /** With `--repeats`: samples for each example, which are one cluster. */
  repeats: z.int().optional(),
  /** With `--slice`: the comparison within each value of the field. */
  slices: z
    .strictObject({
      field: z.string(),
      /** The loss that must be ruled out in every slice. */
      margin: z.number().optional(),
      values: z.array(
        z.strictObject({
          value: z.string(),
          ...PART,
          /** The last two: a loss of the margin is not ruled out, or without one nothing is significant. */
          state: z.enum([
            "unchanged",
            "better",
            "loss_ruled_out",
            "worse",
            "loss_not_ruled_out",
            "not_significant",
          ]),
          /** About how many examples of the slice would decide. */
          needed: z.int().optional(),
        }),
      ),
    })
    .optional(),
  /** With axes: the comparison on each of them. */
  axes: z
    .strictObject({
      /** The decision by the main reward, and its slices, alone. */
      without_axes: z.enum(["PROMOTE", "PASS", "REJECT", "INCONCLUSIVE"]),
      /** Axes on which a loss is shown. */
      refused_by: z.array(z.string()),
      values: z.array(
        z.strictObject({
          name: z.string(),
          /** The loss that must be ruled out; with 0 no row may lose. */
          margin: z.number(),
          ...PART,
          /** `worse_within_margin`: a loss is shown, and one of the margin is ruled out. */
          state: z.enum(["loss_ruled_out", "worse_within_margin", "worse", "loss_not_ruled_out"]),
          /** About how many examples would decide. */
          needed: z.int().optional(),
        }),
      ),
    })
    .optional(),
  /** Of judged runs: the judge, and with `--judge-audit` what an audit found of it. */
  judge: z
    .strictObject({
      name: z.string(),
      version: z.string(),
      fingerprint: hash,
      audit: z
        .strictObject({
          run: z.string(),
          /** It is of this judge, and acquitted it. */
          trusted: z.boolean(),
          /** The share of labelled pairs that the judge orders as the labels do. */
          accuracy: z.number().nullable(),
        })
        .nullable(),
    })
    .optional(),
  /** With `--verified`: what was made again of each run before the verdict. */
  verified: z
    .strictObject({
      baseline: madeAgainSchema,
      candidate: madeAgainSchema,
      /** With `--verify-only`: the parts that the caller asked for, and what that leaves open. */
      only: z.array(z.enum(PARTS)).optional(),
      caution: z.string().optional(),
    })
    .optional(),
  /** With `--require-seal`: the fingerprint of the key, and what was found in each folder. */
  seals: z.strictObject({ key: hash, baseline: seal, candidate: seal }).optional(),
});

/** What `gate` found: the decision, its reasons and the figures behind it. @see {@link gate} */
export type GateReport = z.infer<typeof gateReportSchema>;
/** Why the gate decided as it did: a code, a sentence, and what each run has. @see {@link gate} */
export type Reason = z.infer<typeof reasonSchema>;
export type Decision = GateReport["decision"];
