/**
 * What a training run writes line by line. Nothing in these files depends on the clock, so that a run
 * which was interrupted and resumed has the same bytes; seconds are in timing.jsonl.
 */

import { z } from "zod";
import { hash, jsonObject } from "./schemas.ts";

const step = z.int().min(0);
const counts = z.record(z.string(), z.number());
/** A number. The type is wide enough for `outcomes`: an index signature covers every property. */
const metric: z.ZodType<number | Record<string, number> | undefined> = z.number();
const rewards: z.ZodType<readonly (number | null)[]> = z.array(z.number().nullable());
const seconds = z.number().min(0);

/**
 * One line of metrics.jsonl. Every name besides `step` and `outcomes` is a number, and a curve of the
 * report. An algorithm writes those that it has:
 *
 *   loss, gradient_norm, learning_rate, tokens (trained on, padding not counted), sampled_tokens
 *   reward/mean, reward/std, reward/min, reward/max, reward/zero_std_groups (share of groups whose
 *     rewards are all equal), reward/NAME (mean of one scorer where there are several)
 *   kl/k1, kl/k2, kl/k3 (per token, policy against reference), kl/coefficient, kl/rows (how many rows
 *     the estimates and check/reference_gap are from; absent: all of them)
 *   entropy (nats per token of the full next-token distribution)
 *   length/mean, length/min, length/max (of a completion), length/truncated (share of completions
 *     cut at max_tokens; one cut earlier, by the context, is not counted)
 *   episode/turns, episode/turns_max, episode/reward_per_turn, episode/truncated (share that was cut
 *     short), episode/out_of_turns, episode/context_full (shares, by why), episode/NAME (mean of a
 *     metric that the environment counts, such as tool_errors): of episodes in an environment
 *   clip/low, clip/high (shares of tokens), ratio/max
 *   check/logprob_gap (largest |recomputed - sampled| log-prob before the first update of a step)
 *   check/sampling_gap (mean log-prob under the sampling distribution minus that of the policy)
 *   check/reference_gap (largest |policy - reference| log-prob; 0 for ever means: the same weights)
 *   repeated (share of the commonest completion), repetition (share of the 4-grams of tokens that
 *     occurred before in the same completion)
 *   rewards/chosen, rewards/rejected, rewards/margin, rewards/accuracy, logps/chosen, logps/rejected,
 *     token_accuracy (of preference and supervised losses)
 *   cost/mean, cost/limit, cost/lambda (of constrained learning)
 *   value/loss, value/explained (of a value head)
 *   judge/groups, judge/dropped (without a verdict), judge/identical (all episodes the same),
 *     judge/prompt_tokens, judge/completion_tokens (asked in this step, of groups that were replaced
 *     too), independent_reward (mean of the environment's own reward): where a judge gives the reward
 */
export const stepRecordSchema = z.object({ step, outcomes: counts.optional() }).catchall(metric);

/** What a judge says of the policy's episodes, each in one group with that of the initial policy. */
const versusInitial = z.strictObject({
  /** Share of tasks whose episode has the higher score; equal scores count half. */
  win_rate: z.number().min(0).max(1),
  /** Mean score of the policy, and of the initial policy in the same groups. */
  score_mean: z.number(),
  baseline_mean: z.number(),
  /** Asked about, and those of them without a verdict. */
  groups: z.int().min(1),
  dropped: z.int().min(0),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
});

/** One line of evaluations.jsonl: the policy on the validation set, step 0 being the initial one. */
export const evaluationRecordSchema = z.object({
  step,
  examples: z.int().min(0),
  /**
   * By the scorer used for validation, which may be another than the one that rewards. Where only a
   * judge can say: the share of tasks whose episode it prefers to that of the initial policy.
   */
  pass_rate: z.number().min(0).max(1),
  reward_mean: z.number(),
  /** By what rewards: the scorers, or the judge; the same as reward_mean where they are the same. */
  proxy_mean: z.number(),
  /** Exact KL of the full next-token distributions to the reference, per token; null without one. */
  kl_exact: z.number().nullable(),
  entropy: z.number(),
  length_mean: z.number(),
  /** Share of completions cut at max_tokens or by the context. */
  truncated: z.number(),
  /** Share of the commonest completion. */
  repeated: z.number(),
  /** Mean share of a completion's 4-grams of tokens that it has had before; absent in earlier releases. */
  repetition: z.number().optional(),
  outcomes: counts,
  /** Of episodes in an environment: the figures that metrics.jsonl has as `episode/NAME`. */
  episode: counts.optional(),
  /** Mean of −log p per token of the examples' own completions; absent where they have none. */
  loss: z.number().optional(),
  /** Of each example in the order of the file; null where the scorer failed or a judge gave no verdict. */
  rewards,
  judge: versusInitial.optional(),
  /** The same comparison by the validation rewards, where a judge rewards and there are labels. */
  labels: z.strictObject({ win_rate: z.number().min(0).max(1) }).optional(),
});

/** One line of samples.jsonl: completions of the first examples of the validation set; of the last step, where a run has no validations. */
export const sampleRecordSchema = z.object({
  step,
  id: z.string(),
  prompt: z.string(),
  /** What the policy wrote, of all turns. */
  completion: z.string(),
  reward: z.number().nullable(),
  code: z.string(),
  /** Of an episode in an environment: everything that was said, in order. */
  messages: z.array(z.object({ role: z.string(), content: z.string() })).optional(),
  /** What the example says to the embedded axes, such as that it is to be refused. */
  axis_labels: z.json().optional(),
  /** What a judge said of it, in one group with the initial policy's episode. */
  judge: z
    .strictObject({ score: z.number(), baseline: z.number(), explanation: z.string() })
    .optional(),
});

/** One line of baseline.jsonl: what the initial policy did in a validation task. */
export const baselineRecordSchema = z.strictObject({
  id: z.string(),
  messages: z.array(
    z.strictObject({
      role: z.enum(["system", "user", "assistant", "tool"]),
      content: z.string(),
    }),
  ),
  /** By the labels; null where there are none. */
  reward: z.number().nullable(),
});

/** One line of alarms.jsonl. */
export const alarmSchema = z.object({
  step,
  /** A short fixed name, such as reward_hacking. */
  alarm: z.string(),
  /** Whether the run ends with it, unless the setting alarms_stop is false. */
  stops: z.boolean(),
  /** What happened, and what to do, in words. */
  message: z.string(),
  evidence: jsonObject,
});

/** One line of timing.jsonl, which no comparison reads. */
export const timingRecordSchema = z.object({
  step,
  sampling_s: seconds,
  scoring_s: seconds,
  /** Log-probs by the reference on the rows that need them and, with a value head, by the policy. */
  logprobs_s: seconds,
  updating_s: seconds,
  evaluating_s: seconds,
  /**
   * Positions of the updates that belong to a row, as a share of all that were computed; the rest is
   * padding. Absent where the engine does not say, and on the last line, which has no update.
   */
  used_share: z.number().min(0).max(1).optional(),
});

/** One line of states.jsonl: a saved state, bound to the one before it. */
export const stateRecordSchema = z.strictObject({
  step,
  /** Of the state's files, of the streams so far and of what the next batch depends on. */
  state_sha256: hash,
  /** SHA-256 of the chain before (at first the manifest's fingerprint), a line end and state_sha256. */
  chain: hash,
});

export type StateRecord = Readonly<z.infer<typeof stateRecordSchema>>;
export type StepRecord = Readonly<z.infer<typeof stepRecordSchema>>;
export type EvaluationRecord = Readonly<z.infer<typeof evaluationRecordSchema>>;
export type SampleRecord = Readonly<z.infer<typeof sampleRecordSchema>>;
export type BaselineRecord = Readonly<z.infer<typeof baselineRecordSchema>>;
export type Alarm = Readonly<z.infer<typeof alarmSchema>>;
export type TimingRecord = Readonly<z.infer<typeof timingRecordSchema>>;
