/** An answer as files keep it: what a policy said, with what an endpoint adds about how it ended. */

import type { SampledCompletion } from "./policy.ts";

/** What an endpoint may know of an answer and a policy of our own never has to say. */
export interface Remarks {
  /** Any end but "stop" and "length", in the endpoint's own word, such as "content_filter". */
  readonly finish_reason?: string | undefined;
  /** The words of a refusal, which are no completion. */
  readonly refusal?: string | undefined;
  /** The endpoint did not count tokens; the counts of `Said` are then 0 and mean nothing. */
  readonly usage_missing?: true | undefined;
}

/** A sample of a pack, or with an id a row of completions. */
export interface Answer {
  readonly completion: string;
  readonly finish: string;
  /** Null where nobody counted. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly sum_logprob?: number | undefined;
  readonly logprobs?: readonly number[] | undefined;
  readonly sampled_logprobs?: readonly number[] | undefined;
  readonly refusal?: string | undefined;
}

export function toAnswer(said: SampledCompletion & Remarks): Answer {
  const { logprobs, sampled_logprobs, usage_missing: uncounted } = said;
  return {
    completion: said.completion,
    finish: said.finish_reason ?? said.finish,
    prompt_tokens: uncounted ? null : said.prompt_tokens,
    completion_tokens: uncounted ? null : said.completion_tokens,
    ...(logprobs && { sum_logprob: logprobs.reduce((sum, one) => sum + one, 0), logprobs }),
    ...(sampled_logprobs && { sampled_logprobs }),
    ...(said.refusal !== undefined && { refusal: said.refusal }),
  };
}
