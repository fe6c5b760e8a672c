/** Samples completions in batches; each row's luck depends on its address alone. */

import { dataError } from "../core/errors.ts";
import type { SampledCompletion, SamplingSettings } from "../core/policy.ts";
import { type Coordinate, type Rng, rngAt } from "../core/rng.ts";
import type { Decoder } from "./decoder.ts";
import type { Decoding } from "./decoding.ts";
import {
  type Choice,
  choose,
  type Sampling,
  samplesFromPolicy,
  type TokenLogprob,
  topLogprobs,
} from "./sample-token.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

/** One completion that is wanted. `address` is where its randomness lies. */
export interface GenerationRequest {
  readonly prompt: readonly number[];
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
  /** How many of the likeliest tokens to name beside each that is drawn; none unless asked for. */
  readonly alternatives?: number | undefined;
}

/** A token at the moment it is drawn. */
export interface Drawn extends Choice {
  /** Which of the wanted completions it belongs to. */
  readonly row: number;
  readonly alternatives: readonly TokenLogprob[];
  /** The whole completion, where this token ends it. */
  readonly said: Generation | null;
}

/** At most `decoder.batch` completions at once, in the order asked for. */
export async function generateBatch(
  decoder: Decoder,
  wanted: readonly GenerationRequest[],
  options: GenerateOptions,
): Promise<Generation[]> {
  const batch = await Batch.begin(decoder, wanted, options);
  while (batch.live.length > 0) await batch.advance();
  batch.end();
  return batch.rows.map((row) => row.said());
}

/** The same, token by token; whoever stops listening stops the sampling. */
export async function* generateSteps(
  decoder: Decoder,
  wanted: readonly GenerationRequest[],
  options: GenerateOptions,
): AsyncGenerator<readonly Drawn[], void, void> {
  const batch = await Batch.begin(decoder, wanted, options);
  try {
    while (batch.live.length > 0) {
      const rows = batch.live;
      await batch.advance();
      yield rows.map((row) => row.drawn());
    }
  } finally {
    batch.end();
  }
}

/** Completions that grow together. */
class Batch {
  readonly rows: readonly Row[];
  /** Those that have not ended. */
  live: readonly Row[];
  readonly #decoding: Decoding;
  #begun = false;

  private constructor(rows: readonly Row[], decoding: Decoding) {
    this.rows = rows;
    this.live = rows;
    this.#decoding = decoding;
  }

  static async begin(
    decoder: Decoder,
    wanted: readonly GenerationRequest[],
    options: GenerateOptions,
  ): Promise<Batch> {
    const { parameters, sampling, maxLength } = options;
    const longest = Math.max(...wanted.map(({ prompt }) => prompt.length));
    if (longest + 1 > maxLength) {
      throw dataError(
        `a prompt has ${longest} tokens, and the policy looks at ${maxLength} at most`,
        "Shorten the prompt, or use a policy with a longer view.",
      );
    }
    // Each row has a limit of its own: company must not shorten a completion.
    const limits = wanted.map(({ prompt }) =>
      Math.min(sampling.max_tokens, maxLength - prompt.length),
    );
    const decoding = await decoder.begin(
      parameters,
      wanted.map(({ prompt }) => prompt),
      Math.max(...wanted.map(({ prompt }, i) => prompt.length + (limits[i] as number))),
    );
    const rows = wanted.map(
      (one, i) => new Row(i, one, limits[i] as number, decoding.row(i), options),
    );
    return new Batch(rows, decoding);
  }

  /** One more token for each that has not ended. */
  async advance(): Promise<void> {
    if (this.#begun) await this.#decoding.append(this.rows.map(({ next }) => next));
    this.#begun = true;
    for (const row of this.live) row.draw();
    if (this.live.some(({ ended }) => ended)) this.live = this.live.filter(({ ended }) => !ended);
  }

  end(): void {
    this.#decoding.end();
  }
}

/** Besides a token for each byte of a stop text: some say nothing, or begin amid a character. */
const SPARE_TOKENS = 8;

/** One completion as it grows. */
class Row {
  readonly #index: number;
  readonly #prompt: readonly number[];
  readonly #rng: Rng;
  readonly #limit: number;
  /** Of the next token; the decoder writes them anew for each. */
  readonly #logits: Float32Array;
  readonly #options: GenerateOptions;
  readonly #settings: Sampling;
  /** How many tokens can hold a stop text. */
  readonly #tail: number;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #sampled: number[] = [];
  #finish: SampledCompletion["finish"] | undefined;

  constructor(
    index: number,
    { prompt, address }: GenerationRequest,
    limit: number,
    logits: Float32Array,
    options: GenerateOptions,
  ) {
    const { temperature, top_k: topK, top_p: topP } = options.sampling;
    this.#index = index;
    this.#prompt = prompt;
    this.#rng = rngAt(...address);
    this.#limit = limit;
    this.#logits = logits;
    this.#options = options;
    this.#settings = { temperature, topK, topP };
    const { stop } = options.sampling;
    this.#tail = Math.max(0, ...stop.map((text) => Buffer.byteLength(text))) + SPARE_TOKENS;
  }

  get ended(): boolean {
    return this.#finish !== undefined;
  }

  /** What the decoder is to append: nothing to a row that has ended. */
  get next(): number {
    return this.ended ? -1 : (this.#tokens.at(-1) as number);
  }

  draw(): void {
    const { token, logprob, sampled } = choose(this.#logits, this.#settings, this.#rng.next());
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    this.#sampled.push(sampled);
    if (this.#options.tokenizer.endTokens.includes(token) || this.#stopped()) this.#finish = "stop";
    else if (this.#tokens.length === this.#limit) this.#finish = "length";
  }

  /** The token that was drawn last. */
  drawn(): Drawn {
    return {
      row: this.#index,
      token: this.#tokens.at(-1) as number,
      logprob: this.#logprobs.at(-1) as number,
      sampled: this.#sampled.at(-1) as number,
      alternatives: topLogprobs(this.#logits, this.#options.alternatives ?? 0),
      said: this.ended ? this.said() : null,
    };
  }

  /** Only the end is read: a stop text that lies further back was found when it was said. */
  #stopped(): boolean {
    const { tokenizer, sampling } = this.#options;
    if (sampling.stop.length === 0) return false;
    const found = (tokens: readonly number[]) => {
      const text = tokenizer.decode(tokens);
      return sampling.stop.some((stop) => text.includes(stop));
    };
    // The end may begin amid a character, and read differently there.
    return found(this.#tokens.slice(-this.#tail)) && found(this.#tokens);
  }

  said(): Generation {
    const { tokenizer, sampling } = this.#options;
    const text = tokenizer.decode(this.#tokens.filter((id) => !tokenizer.endTokens.includes(id)));
    const ends = sampling.stop.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return {
      completion: ends.length > 0 ? text.slice(0, Math.min(...ends)) : text,
      finish: this.#finish ?? "length",
      prompt_tokens: this.#prompt.length,
      completion_tokens: this.#tokens.length,
      tokens: this.#tokens,
      logprobs: this.#logprobs,
      sampled_logprobs: samplesFromPolicy(this.#settings) ? null : this.#sampled,
    };
  }
}
