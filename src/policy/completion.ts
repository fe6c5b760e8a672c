/** One completion as it grows. */

import type { SampledCompletion, SamplingSettings } from "../core/policy.ts";
import { type Coordinate, type Rng, rngAt } from "../core/rng.ts";
import type { Scores } from "./decoder-graphs.ts";
import {
  type SampledToken,
  sampleProbability,
  sampleToken,
  type TokenLogprob,
  topLogprobs,
} from "./sample-token.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

/** One completion to sample. */
export interface GenerationRequest {
  readonly prompt: readonly number[];
  /** Address of its random numbers. */
  readonly address: readonly Coordinate[];
}

export interface GenerateOptions {
  readonly parameters: Float32Array;
  readonly tokenizer: Pick<PolicyTokenizer, "endTokens" | "decode">;
  readonly sampling: SamplingSettings;
  readonly maxLength: number;
  /** How many of the likeliest tokens to report at each position (default: 0). */
  readonly alternatives?: number | undefined;
  /** Measure the latency of each completion: from its prompt to its last token, in its batch. */
  readonly timed?: boolean | undefined;
}

export interface Generation extends SampledCompletion {
  readonly tokens: readonly number[];
}

/** A token as soon as it is sampled. */
export interface GeneratedToken extends SampledToken {
  /** Index of its request. */
  readonly row: number;
  readonly alternatives: readonly TokenLogprob[];
  /** The whole completion, if this is its last token. */
  readonly generation: Generation | null;
}

/** Tokens looked at beyond one per byte of a stop text: some have no text, or begin inside a character. */
const SPARE_TOKENS = 8;

export class Completion {
  readonly index: number;
  readonly #prompt: readonly number[];
  readonly #rng: Rng;
  readonly #maxTokens: number;
  readonly #options: GenerateOptions;
  readonly #scores: Scores;
  /** How many of the last tokens can hold a stop text. */
  readonly #tail: number;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #sampled: number[] = [];
  #alternatives: readonly TokenLogprob[] = [];
  #finish: SampledCompletion["finish"] | undefined;
  #beganAt = 0;
  #ms: number | undefined;

  constructor(
    index: number,
    { prompt, address }: GenerationRequest,
    maxTokens: number,
    options: GenerateOptions,
    /** What it is sampled from: probabilities mean from the policy itself. */
    scores: Scores,
  ) {
    this.index = index;
    this.#prompt = prompt;
    this.#rng = rngAt(...address);
    this.#maxTokens = maxTokens;
    this.#options = options;
    this.#scores = scores;
    const stopBytes = options.sampling.stop.map((text) => Buffer.byteLength(text));
    this.#tail = Math.max(0, ...stopBytes) + SPARE_TOKENS;
  }

  /** Its prompt is about to be read. */
  begin(): void {
    if (this.#options.timed) this.#beganAt = performance.now();
  }

  get ended(): boolean {
    return this.#finish !== undefined;
  }

  /** The token that was sampled last. */
  get last(): number {
    return this.#tokens.at(-1) as number;
  }

  /** The next token. */
  sample(scores: Float32Array): void {
    const { sampling, tokenizer, alternatives = 0 } = this.#options;
    const uniform = this.#rng.next();
    const { token, logprob, sampledLogprob } =
      this.#scores === "probabilities"
        ? sampleProbability(scores, uniform)
        : sampleToken(scores, sampling, uniform);
    // Now, because the scores are overwritten.
    this.#alternatives = topLogprobs(scores, alternatives, this.#scores);
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    this.#sampled.push(sampledLogprob);
    if (tokenizer.endTokens.includes(token) || this.#stopped()) this.#finish = "stop";
    else if (this.#tokens.length === this.#maxTokens) this.#finish = "length";
    if (this.#options.timed && this.ended) this.#ms = performance.now() - this.#beganAt;
  }

  /** The same, with all that is known of it. */
  lastToken(): GeneratedToken {
    return {
      row: this.index,
      token: this.last,
      logprob: this.#logprobs.at(-1) as number,
      sampledLogprob: this.#sampled.at(-1) as number,
      alternatives: this.#alternatives,
      generation: this.ended ? this.generation() : null,
    };
  }

  /** Decodes only the last tokens: a stop text before them was found at an earlier step. */
  #stopped(): boolean {
    const { tokenizer, sampling } = this.#options;
    if (sampling.stop.length === 0) return false;
    const found = (tokens: readonly number[]) => {
      const text = tokenizer.decode(tokens);
      return sampling.stop.some((stop) => text.includes(stop));
    };
    // The last tokens may begin inside a character, and so decode to another text.
    return found(this.#tokens.slice(-this.#tail)) && found(this.#tokens);
  }

  generation(): Generation {
    const { tokenizer, sampling } = this.#options;
    const text = completionText(tokenizer, this.#tokens);
    const stops = sampling.stop.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return {
      completion: stops.length > 0 ? text.slice(0, Math.min(...stops)) : text,
      finish: this.#finish ?? "length",
      prompt_tokens: this.#prompt.length,
      completion_tokens: this.#tokens.length,
      tokens: this.#tokens,
      logprobs: this.#logprobs,
      sampled_logprobs: this.#scores === "probabilities" ? null : this.#sampled,
      ...(this.#ms !== undefined && { ms: this.#ms }),
    };
  }
}

/** The text of a completion, without the token that ends it. */
export function completionText(
  tokenizer: GenerateOptions["tokenizer"],
  tokens: readonly number[],
): string {
  return tokenizer.decode(tokens.filter((id) => !tokenizer.endTokens.includes(id)));
}
