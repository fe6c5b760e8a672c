/** What a run's files hold. Each schema has a version in its `schema` field and a JSON Schema export. */

import { z } from "zod";
import { MANIFEST_SCHEMA, PROVENANCE_SCHEMA, SUMMARY_SCHEMA } from "./artifacts.ts";
import { episodeMessageSchema, rolloutFailureSchema } from "./episode-schema.ts";
import { judgedRunSchema, judgeSummarySchema, judgeTrafficSchema } from "./judge-schemas.ts";
import { count, hash, jsonObject } from "./schema-parts.ts";

export { count, hash, jsonObject };

/** Examples whose prompts a policy had met before it was measured on them. */
const overlap = z.strictObject({
  rows: count,
  /** At most five. */
  first_ids: z.array(z.string()),
  /** How many different prompts the policy had met in all. */
  of: count,
  /** The probability that an example is counted by mistake. */
  false_positive_rate: z.number(),
});

/** What a policy had met of the examples; null where its history or the prompts of it are unknown. */
export const exposureSchema = z
  .strictObject({
    /** In the training data of the policy, or of one that it began with. */
    learned: overlap,
    /** In the validation sets (`--dev`) of these trainings. */
    validated: overlap,
  })
  .nullable();

/**
 * With how many different seeds the policy had answered these examples, this time included; null
 * where nobody counts, as for an endpoint.
 */
const seedsTried = z.int().min(1).nullable();

/** `<completions>.provenance.json`, declared by the maker of the completions beside it. */
export const provenanceSchema = z.strictObject({
  schema: z.literal(PROVENANCE_SCHEMA),
  /** Of the completions file that this describes; a mismatch is refused. */
  completions_sha256: hash.optional(),
  policy: jsonObject.nullable().optional(),
  prompt: jsonObject.nullable().optional(),
  sampling: jsonObject.nullable().optional(),
  /** Every row has the fingerprint of the prompt that it answers, and is used with no other. */
  prompts_by_row: z.literal(true).optional(),
  exposure: exposureSchema.optional(),
  seeds_tried: seedsTried.optional(),
  /** Where the checkpoint lay, for whoever wants to sample again. */
  checkpoint: z.string().optional(),
});

export const inputFile = z.strictObject({
  role: z.string(),
  path: z.string(),
  sha256: hash,
  bytes: z.int(),
  rows: z.int(),
});

/** Who scored: the main scorer of a run, or that of one of its axes. */
const scorerIdentity = z.strictObject({
  name: z.string(),
  version: z.string(),
  spec: z.string(),
  source_sha256: hash,
  path: z.string().nullable(),
  /** Of a scorer object: the hash covers the text of its function and nothing that it captures. */
  source: z.literal("function_text").optional(),
  /** Of the code that is known without running it, where `source_sha256` covers more. */
  code_sha256: hash.optional(),
  /** Of a grader that is computed from its JSON alone: that JSON, as its file has it. */
  grader: jsonObject.optional(),
  /** The scorer declares itself non-deterministic; each row was scored once. */
  deterministic: z.literal(false).optional(),
  /** The kind of failure of each code, if the scorer declares it. */
  classes: z.record(z.string(), z.string()).optional(),
  /** The lowest and the highest possible reward, if the scorer declares them. */
  range: z.tuple([z.number(), z.number()]).optional(),
});

/** What a manifest says of an environment; one that a server plays may say more. */
export const environmentIdentity = z.looseObject({
  name: z.string(),
  version: z.string(),
  spec: z.string(),
  source_sha256: hash,
  path: z.string().nullable(),
});

export const manifestSchema = z.strictObject({
  schema: z.literal(MANIFEST_SCHEMA),
  fingerprint_version: z.int(),
  loop: z.enum(["A", "B", "C"]),
  command: z.string(),
  /** Path null: the rows came from memory, and their hash is that of their canonical JSON lines. */
  inputs: z.array(inputFile.extend({ path: z.string().nullable() })),
  /** The examples that were used, in order, whatever file they came from. */
  examples: z.strictObject({ count: z.int(), sha256: hash, prompts_sha256: hash }),
  /** Of the scored completions, whatever file they came from; null for packs of samples. */
  answers_sha256: hash.nullable(),
  scorer: scorerIdentity,
  /** Of episodes: who gave the observations and rewards; `scorer` repeats it. */
  environment: environmentIdentity.optional(),
  /** Of episodes: the split of the environment that the tasks are of. */
  split: z.string().optional(),
  /** Of episodes: the outcome codes of a solved task, which are those that pass. */
  solved: z.array(z.string()).optional(),
  /** Where the rewards are a judge's: who it is; `scorer` repeats it. */
  judge: judgedRunSchema.optional(),
  /** With --axis: the secondary scorers, by name in their order. */
  axes: z.array(z.strictObject({ name: z.string(), scorer: scorerIdentity })).optional(),
  prompt: jsonObject.nullable(),
  sampling: jsonObject.nullable(),
  selection: jsonObject.nullable(),
  policy: jsonObject.nullable(),
  /** Absent or null: unknown. */
  exposure: exposureSchema.optional(),
  seeds_tried: seedsTried.optional(),
  learning: jsonObject.nullable(),
  device: jsonObject.nullable(),
  settings: jsonObject,
  /** Facts about when and where it ran, which are not part of the fingerprint. */
  volatile: z.strictObject({
    started_at: z.string(),
    seconds: z.number(),
    host: z.string(),
    platform: z.string(),
    node: z.string(),
    lockedroom: z.string(),
    git: z.strictObject({ commit: z.string(), dirty: z.boolean() }).nullable(),
    jobs: z.int().optional(),
    /** The name under which the run was made; a copy carries the name of the original. */
    folder: z.string().optional(),
    /** Where the policy's checkpoint lay. */
    checkpoint: z.string().optional(),
    /** Seconds that a training run had: at which step they are spent depends on the machine. */
    time_budget_s: z.number().optional(),
    /** How the verdicts of a judge were come by. */
    judge: judgeTrafficSchema.optional(),
  }),
});

/** Of an episode: whether its environment calls the task solved; elsewhere the reward says it. */
const passed = z.boolean().optional();

const choice = z.strictObject({
  index: z.int(),
  reward: z.number().nullable(),
  outcome_code: z.string(),
  passed,
});

/** What was said in an episode, and how it ended; its reward and code are those of the row. */
export const rowEpisodeSchema = z.strictObject({
  sample: count,
  /** Where its randomness lies. */
  address: z.array(z.union([z.string(), z.number()])),
  messages: z.array(episodeMessageSchema),
  /** Actions of the policy. */
  turns: count,
  /** False when the episode was cut short. */
  terminated: z.boolean(),
  metrics: z.record(z.string(), z.number()),
});

export const resultRowSchema = z.strictObject({
  id: z.string().min(1),
  prompt: z.string(),
  expected_answer: z.json(),
  completion: z.string().nullable(),
  /** Null for the harness's own codes: nothing was scored. */
  reward: z.number().nullable(),
  outcome_code: z.string().min(1),
  details: z.json(),
  passed,
  /** Of a row that is an episode. */
  episode: rowEpisodeSchema.optional(),
  sum_logprob: z.number().optional(),
  sum_ref_logprob: z.number().optional(),
  /** With --repeats: which of the example's samples this is, from 0. */
  sample: count.optional(),
  /** With --slice: by field, the example's value. */
  slices: z.record(z.string(), z.string()).optional(),
  /** With --axis: what each secondary scorer gave; a null reward is no reward. */
  axes: z
    .record(
      z.string(),
      z.strictObject({
        reward: z.number().nullable(),
        code: z.string().min(1),
        message: z.string().optional(),
      }),
    )
    .optional(),
  /** What the example says to the embedded axes. */
  axis_labels: z.json().optional(),
  kl_est: z.number().optional(),
  /** Selection only: the policy is not deterministic on this row. */
  unstable: z.literal(true).optional(),
  /** Selection only: the first sample, the chosen one, and all that were scored. */
  baseline: choice.optional(),
  selected: choice.optional(),
  samples: z
    .array(
      z.strictObject({
        completion: z.string(),
        reward: z.number().nullable(),
        outcome_code: z.string(),
        passed,
        sum_logprob: z.number().optional(),
      }),
    )
    .optional(),
});

const share = z.number().min(0).max(1).nullable();

const sliceRate = z.strictObject({
  value: z.string(),
  n_examples: z.int(),
  n_scored: z.int(),
  n_pass: z.int(),
  pass_rate: share,
  pass_rate_ci95: z.tuple([z.number(), z.number()]).nullable(),
  mean_reward: z.number().nullable(),
  /** Of graded rewards: where every reward is 0 or 1 the interval is that of the pass rate. */
  mean_reward_ci95: z.tuple([z.number(), z.number()]).optional(),
});

/** Of one axis; its mean is over rows that have a reward. */
const axisSummary = z.strictObject({
  mean: z.number().nullable(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
  scored: z.int(),
  /** Rows on which the axis's scorer failed. */
  errors: z.int(),
  codes: z.record(z.string(), z.int()),
});

/** How episodes ended and what their environment measured, over the episodes that have the figure. */
const episodesSummary = z.strictObject({
  n: z.int(),
  /** Those that were cut short. */
  truncated: z.int(),
  metrics: z.record(
    z.string(),
    z.strictObject({ n: z.int(), mean: z.number(), least: z.number(), most: z.number() }),
  ),
});

export const summarySchema = z.strictObject({
  schema: z.literal(SUMMARY_SCHEMA),
  loop: z.enum(["A", "B", "C"]),
  scorer: z.strictObject({ name: z.string(), version: z.string() }),
  /** Rates are over scored rows; they are null when there are none. */
  metrics: z.looseObject({
    pass_rate: share,
    pass_rate_ci95: z.tuple([z.number(), z.number()]).nullable(),
    mean_reward: z.number().nullable(),
    /** Of graded rewards, over examples. */
    mean_reward_ci95: z.tuple([z.number(), z.number()]).optional(),
    mean_kl_est: z.number().nullable(),
    /** Rows: with --repeats an example counts once for each of its samples. */
    n_examples: z.int(),
    n_scored: z.int(),
    n_pass: z.int(),
    n_fail: z.int(),
    n_missing: z.int(),
    n_scorer_error: z.int(),
    /** With --repeats: samples for each example; the interval is then over examples. */
    repeats: z.int().optional(),
    /** Selection only. */
    pass_at_1: share.optional(),
    pass_at_n: share.optional(),
    delta: z.number().nullable().optional(),
    rescued: z.int().optional(),
    lost: z.int().optional(),
    n_short_packs: z.int().optional(),
    n_empty_packs: z.int().optional(),
    pass_at_k: z
      .array(z.strictObject({ k: z.int(), value: z.number(), packs: z.int() }))
      .optional(),
  }),
  outcomes: z.strictObject({ counts: z.record(z.string(), z.int()) }),
  /** With --slice: by field, the rates of its values. */
  slices: z.record(z.string(), z.array(sliceRate)).optional(),
  /** With --axis: by name. */
  axes: z.record(z.string(), axisSummary).optional(),
  /** Of a run of episodes. */
  episodes: episodesSummary.optional(),
  /** Rollouts that failed, which have no episode; each is a missing row. */
  failures: z.strictObject({ count: z.int(), first: z.array(rolloutFailureSchema) }).optional(),
  /** Of a judged run: of both sides together. */
  judge: judgeSummarySchema.optional(),
  unknown_completions: z.strictObject({ count: z.int(), first_ids: z.array(z.string()) }),
  /** What makes the numbers untrustworthy; the gate refuses a run that has any. */
  alarms: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  /** Every other file of the run but the note, by name. */
  files: z.record(z.string(), hash),
  results_sha256: hash,
  manifest_sha256: hash,
});

/** What a policy had met of the examples before. */
export type Exposure = z.infer<typeof exposureSchema>;
export type Provenance = z.infer<typeof provenanceSchema>;
/** manifest.json: what was held fixed, by fingerprint. @see {@link openRun} */
export type Manifest = z.infer<typeof manifestSchema>;
export type Volatile = Manifest["volatile"];
/** What a row holds of an episode. */
export type RowEpisode = z.infer<typeof rowEpisodeSchema>;
/** A line of results.jsonl. @see {@link openRun} */
export type ResultRow = z.infer<typeof resultRowSchema>;
/** summary.json: metrics and outcome counts. @see {@link openRun} */
export type Summary = z.infer<typeof summarySchema>;
