/** What samples completions: a policy together with its prompt and its sampling settings. */

import type { JsonObject } from "./json.ts";
import type { PromptSet } from "./prompt-set.ts";
import type { Example } from "./records.ts";

/** Which sample of which example is wanted; its randomness is addressed by both. */
export interface SampleRequest {
  readonly example: Example;
  readonly sample: number;
}

/** A completion with the log-probs of its tokens. */
export interface SampledCompletion {
  readonly completion: string;
  readonly finish: "stop" | "length";
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Of each token under the policy itself, the full softmax; null where unknown. */
  readonly logprobs: readonly number[] | null;
  /** Of each token under the sampling distribution, where temperature or truncation change it. */
  readonly sampled_logprobs: readonly number[] | null;
  /** Endpoints only: any reason but "stop" and "length", as given, such as "content_filter". */
  readonly finish_reason?: string | undefined;
  /** Endpoints only: the text of a refusal, which is not part of the completion. */
  readonly refusal?: string | undefined;
  /** Endpoints only: tokens were not counted, and both counts are a meaningless 0. */
  readonly usage_missing?: true | undefined;
  /** Latency in milliseconds, where measured. Not part of the answer: repeating the run gives the same answer. */
  readonly ms?: number | undefined;
}

/** Sampling settings as the manifest records them. @see {@link rollout} */
export interface SamplingSettings {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Only so many of the likeliest tokens; 0 for all. */
  readonly top_k: number;
  /** Only the likeliest tokens that together have this probability; 1 for all. */
  readonly top_p: number;
  readonly max_tokens: number;
  readonly stop: readonly string[];
  readonly seed: number;
}

/** The prompts of a policy's past, with those of the policies that it began with. */
export interface SeenPrompts {
  readonly learned: PromptSet;
  /** Those of validation sets (`--dev`). */
  readonly validated: PromptSet;
}

/** Where a policy's checkpoint lies. */
export interface CheckpointPlace {
  /** As it was given. */
  readonly path: string;
  /** The folder that keeps a record of the policy's rollouts; null where none does. */
  readonly ledger: string | null;
}

/**
 * What samples completions: weights or an endpoint, with its prompt and sampling settings.
 * @see {@link rollout}
 */
export interface Policy {
  /** Kind, name, fingerprint: the manifest's `policy`. */
  readonly identity: JsonObject;
  /** How an example becomes a prompt: the manifest's `prompt`. */
  readonly prompt: JsonObject;
  readonly sampling: SamplingSettings;
  /** Absent where it is unknown. */
  readonly seen?: SeenPrompts | undefined;
  /** Absent for what is no checkpoint on disk, such as an endpoint. */
  readonly place?: CheckpointPlace | undefined;
  /** Throws when the policy cannot read the prompt: a character it does not know, too many tokens. */
  requirePrompt?(prompt: string): void;
  /** Completions in any order, each with its request. */
  sample(
    requests: Iterable<SampleRequest>,
  ): AsyncIterable<readonly [SampleRequest, SampledCompletion]>;
  close(): Promise<void>;
}

/** A completion as files keep it: a sample of a pack, or with an id a row of completions. */
export interface Answer {
  readonly completion: string;
  readonly finish: string;
  /** Null where tokens were not counted. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly sum_logprob?: number | undefined;
  readonly logprobs?: readonly number[] | undefined;
  readonly sampled_logprobs?: readonly number[] | undefined;
  readonly refusal?: string | undefined;
}

export function toAnswer(sampled: SampledCompletion): Answer {
  const { logprobs, sampled_logprobs, refusal, usage_missing: uncounted } = sampled;
  return {
    completion: sampled.completion,
    finish: sampled.finish_reason ?? sampled.finish,
    prompt_tokens: uncounted ? null : sampled.prompt_tokens,
    completion_tokens: uncounted ? null : sampled.completion_tokens,
    ...(logprobs && { sum_logprob: logprobs.reduce((sum, one) => sum + one, 0), logprobs }),
    ...(sampled_logprobs && { sampled_logprobs }),
    ...(refusal !== undefined && { refusal }),
  };
}

/**
 * Whether a policy's identity is that of a checkpoint. The case of the word does not matter: what is
 * asked of checkpoints must not be avoided by the way the word is written.
 */
export function isCheckpoint(policy: JsonObject | null): boolean {
  return typeof policy?.kind === "string" && policy.kind.trim().toLowerCase() === "checkpoint";
}

/** The identity of a checkpoint as this program writes it: with the hash of its weights. */
export function hasCheckpointIdentity({ kind, fingerprint }: JsonObject): boolean {
  return kind === "checkpoint" && /^[0-9a-f]{64}$/.test(String(fingerprint));
}
