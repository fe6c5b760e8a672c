/** What samples completions: a policy together with its prompt and its sampling settings. */

import type { JsonObject } from "./json.ts";
import type { Example } from "./records.ts";

/** Which sample of which example is wanted; its randomness is addressed by both. */
export interface SampleRequest {
  readonly example: Example;
  readonly sample: number;
}

/** What the policy said, and how likely it was to say it. */
export interface SampledCompletion {
  readonly completion: string;
  readonly finish: "stop" | "length";
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Of each token under the policy itself, the full softmax; null where it is not known. */
  readonly logprobs: readonly number[] | null;
  /** Of each token under the distribution it was drawn from, where truncation or temperature make it another. */
  readonly sampled_logprobs: readonly number[] | null;
}

/**
 * Sampling settings as the manifest records them.
 *
 * @see {@link rollout}
 */
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

/**
 * What samples completions: weights or an endpoint, with its prompt and sampling settings.
 *
 * @see {@link rollout}
 */
export interface Policy {
  /** Kind, name, fingerprint: what the manifest's `policy` says. */
  readonly identity: JsonObject;
  /** How an example becomes a prompt: what the manifest's `prompt` says. */
  readonly prompt: JsonObject;
  readonly sampling: SamplingSettings;
  /** Answers in any order, each with the ask it belongs to. */
  say(asks: Iterable<SampleRequest>): AsyncIterable<readonly [SampleRequest, SampledCompletion]>;
  close(): Promise<void>;
}
