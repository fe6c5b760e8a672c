/**
 * What a training run writes line by line. Nothing in these files depends on the clock, so that a run
 * which was interrupted and gone on with has the same bytes; seconds are in timing.jsonl.
 */

import type { JsonObject } from "../core/json.ts";

/**
 * One line of metrics.jsonl. Every name besides `step` and `outcomes` is a number, and a curve of the
 * report. An algorithm writes those that it has:
 *
 *   loss, gradient_norm, learning_rate, tokens (trained on, padding not counted), sampled_tokens
 *   reward/mean, reward/std, reward/min, reward/max, reward/zero_std_groups (share of groups whose
 *     rewards are all equal), reward/NAME (mean of one scorer where there are several)
 *   kl/k1, kl/k2, kl/k3 (per token, policy against reference), kl/coefficient
 *   entropy (nats per token of the full next-token distribution)
 *   length/mean, length/min, length/max, length/truncated (share)
 *   clip/low, clip/high (shares of tokens), ratio/max
 *   check/logprob_gap (largest |recomputed - sampled| log-prob before the first update of a step)
 *   check/sampling_gap (mean log-prob under the sampling distribution minus that of the policy)
 *   check/reference_gap (largest |policy - reference| log-prob; 0 for ever means: the same weights)
 *   repeated (share of the commonest completion)
 *   rewards/chosen, rewards/rejected, rewards/margin, rewards/accuracy, logps/chosen, logps/rejected,
 *     token_accuracy (of preference and supervised losses)
 *   cost/mean, cost/limit, cost/lambda (of constrained learning)
 *   value/loss, value/explained (of a value head)
 */
export interface StepRecord {
  readonly step: number;
  readonly outcomes?: Readonly<Record<string, number>>;
  readonly [name: string]: number | Readonly<Record<string, number>> | undefined;
}

/** One line of evaluations.jsonl: the policy on the validation set, step 0 being the start. */
export interface EvaluationRecord {
  readonly step: number;
  readonly examples: number;
  /** By the validation scorer, which may be another than the one that rewards. */
  readonly pass_rate: number;
  readonly reward_mean: number;
  /** By the scorers that reward; the same as reward_mean where they are the same. */
  readonly proxy_mean: number;
  /** Exact KL of the full next-token distributions to the reference, per token; null without one. */
  readonly kl_exact: number | null;
  readonly entropy: number;
  readonly length_mean: number;
  readonly truncated: number;
  /** Share of the commonest completion. */
  readonly repeated: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Of each example in the order of the file; null where the scorer broke. */
  readonly rewards: readonly (number | null)[];
}

/** One line of samples.jsonl: what the policy said to the first examples of the validation set. */
export interface SampleRecord {
  readonly step: number;
  readonly id: string;
  readonly prompt: string;
  readonly completion: string;
  readonly reward: number | null;
  readonly code: string;
}

/** One line of alarms.jsonl. */
export interface Alarm {
  readonly step: number;
  /** A short fixed name, such as reward_hacking. */
  readonly alarm: string;
  /** Whether the run ends with it. */
  readonly stops: boolean;
  /** What happened, and what to do, in words. */
  readonly message: string;
  readonly evidence: JsonObject;
}

/** One line of timing.jsonl, which no comparison reads. */
export interface TimingRecord {
  readonly step: number;
  readonly sampling_s: number;
  readonly scoring_s: number;
  readonly logprobs_s: number;
  readonly updating_s: number;
  readonly evaluating_s: number;
}
