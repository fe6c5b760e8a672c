/** Samples completions in batches; the random numbers of each depend on its address alone. */

import { dataError } from "../core/errors.ts";
import type { SampledCompletion, SamplingSettings } from "../core/policy.ts";
import { type Coordinate, type Rng, rngAt } from "../core/rng.ts";
import type { Decoder } from "./decoder.ts";
import {
  type SampledToken,
  samplesFromPolicy,
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

export interface Generation extends SampledCompletion {
  readonly tokens: readonly number[];
}

export interface GenerateOptions {
  readonly parameters: Float32Array;
  readonly tokenizer: PolicyTokenizer;
  readonly sampling: SamplingSettings;
  readonly maxLength: number;
  /** How many of the likeliest tokens to report at each position (default: 0). */
  readonly alternatives?: number | undefined;
}

/** A token as soon as it is sampled. */
export interface GeneratedToken extends SampledToken {
  /** Index of its request. */
  readonly row: number;
  readonly alternatives: readonly TokenLogprob[];
  /** The whole completion, if this is its last token. */
  readonly generation: Generation | null;
}

/** At most `decoder.batch` completions, in the order of the requests. */
export async function generateBatch(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): Promise<Generation[]> {
  const generations: Generation[] = [];
  for await (const rows of advance(decoder, requests, options)) {
    for (const row of rows) if (row.ended) generations[row.index] = row.generation();
  }
  return generations;
}

/** The same, token by token; sampling stops when the consumer returns. */
export async function* generateSteps(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): AsyncGenerator<readonly GeneratedToken[], void, void> {
  for await (const rows of advance(decoder, requests, options)) {
    yield rows.map((row) => row.lastToken());
  }
}

/** The rows that got a token, after each step. */
async function* advance(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): AsyncGenerator<readonly Row[], void, void> {
  const { parameters, sampling, maxLength } = options;
  const prompts = requests.map(({ prompt }) => prompt);
  const longest = Math.max(...prompts.map(({ length }) => length));
  if (longest + 1 > maxLength) {
    throw dataError(
      `a prompt has ${longest} tokens, but the policy's context length is ${maxLength}`,
      "Shorten the prompt, or use a policy with a longer context.",
    );
  }
  // Each row has its own limit, so that its completion does not depend on the batch.
  const limits = prompts.map(({ length }) => Math.min(sampling.max_tokens, maxLength - length));
  const context = Math.max(...prompts.map(({ length }, i) => length + (limits[i] as number)));
  const decoding = await decoder.begin(parameters, prompts, context);
  const rows = requests.map(
    (request, i) => new Row(i, request, limits[i] as number, decoding.row(i), options),
  );
  try {
    let live = rows;
    while (live.length > 0) {
      for (const row of live) row.sample();
      yield live;
      live = live.filter(({ ended }) => !ended);
      if (live.length > 0) await decoding.append(rows.map(({ last }) => last));
    }
  } finally {
    decoding.end();
  }
}

/** Tokens looked at beyond one per byte of a stop text: some have no text, or begin inside a character. */
const SPARE_TOKENS = 8;

/** One completion as it grows. */
class Row {
  readonly index: number;
  readonly #prompt: readonly number[];
  readonly #rng: Rng;
  readonly #maxTokens: number;
  /** Of the next token; the decoder overwrites them at each step. */
  readonly #logits: Float32Array;
  readonly #options: GenerateOptions;
  /** How many of the last tokens can hold a stop text. */
  readonly #tail: number;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #sampled: number[] = [];
  #finish: SampledCompletion["finish"] | undefined;

  constructor(
    index: number,
    { prompt, address }: GenerationRequest,
    maxTokens: number,
    logits: Float32Array,
    options: GenerateOptions,
  ) {
    this.index = index;
    this.#prompt = prompt;
    this.#rng = rngAt(...address);
    this.#maxTokens = maxTokens;
    this.#logits = logits;
    this.#options = options;
    const stopBytes = options.sampling.stop.map((text) => Buffer.byteLength(text));
    this.#tail = Math.max(0, ...stopBytes) + SPARE_TOKENS;
  }

  get ended(): boolean {
    return this.#finish !== undefined;
  }

  /** The token to append; -1 after the end. */
  get last(): number {
    return this.ended ? -1 : (this.#tokens.at(-1) as number);
  }

  sample(): void {
    const { sampling, tokenizer } = this.#options;
    const { token, logprob, sampledLogprob } = sampleToken(
      this.#logits,
      sampling,
      this.#rng.next(),
    );
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    this.#sampled.push(sampledLogprob);
    if (tokenizer.endTokens.includes(token) || this.#stopped()) this.#finish = "stop";
    else if (this.#tokens.length === this.#maxTokens) this.#finish = "length";
  }

  /** The token that was sampled last. */
  lastToken(): GeneratedToken {
    return {
      row: this.index,
      token: this.#tokens.at(-1) as number,
      logprob: this.#logprobs.at(-1) as number,
      sampledLogprob: this.#sampled.at(-1) as number,
      alternatives: topLogprobs(this.#logits, this.#options.alternatives ?? 0),
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
    const text = tokenizer.decode(this.#tokens.filter((id) => !tokenizer.endTokens.includes(id)));
    const stops = sampling.stop.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return {
      completion: stops.length > 0 ? text.slice(0, Math.min(...stops)) : text,
      finish: this.#finish ?? "length",
      prompt_tokens: this.#prompt.length,
      completion_tokens: this.#tokens.length,
      tokens: this.#tokens,
      logprobs: this.#logprobs,
      sampled_logprobs: samplesFromPolicy(sampling) ? null : this.#sampled,
    };
  }
}
