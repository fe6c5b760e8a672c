/** Samples completions in batches; each row's luck depends on its address alone. */

import { dataError } from "../core/errors.ts";
import type { Said, SamplingSettings } from "../core/policy.ts";
import { type Coordinate, type Rng, rngAt } from "../core/rng.ts";
import { choose, drawsFromPolicy, type Sampling } from "./choose.ts";
import type { Decoder, Decoding } from "./decoder.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

/** One completion that is wanted. `address` is where its randomness lies. */
export interface Wanted {
  readonly prompt: readonly number[];
  readonly address: readonly Coordinate[];
}

export interface Sampled extends Said {
  readonly tokens: readonly number[];
}

export interface GenerateOptions {
  readonly parameters: Float32Array;
  readonly tokenizer: PolicyTokenizer;
  readonly sampling: SamplingSettings;
  readonly maxLength: number;
}

/** At most `decoder.batch` completions at once, in the order asked for. */
export async function generateBatch(
  decoder: Decoder,
  wanted: readonly Wanted[],
  options: GenerateOptions,
): Promise<Sampled[]> {
  const { sampling, maxLength } = options;
  const longest = Math.max(...wanted.map(({ prompt }) => prompt.length));
  if (longest + 1 > maxLength) {
    throw dataError(
      `a prompt has ${longest} tokens, and the policy looks at ${maxLength} at most`,
      "Shorten the prompt, or use a policy with a longer view.",
    );
  }
  const most = Math.min(sampling.max_tokens, maxLength - longest);
  const decoding = await decoder.begin(
    options.parameters,
    wanted.map(({ prompt }) => prompt),
    longest + most,
  );
  const rows = wanted.map(
    ({ prompt, address }) => new Row(prompt.length, rngAt(...address), options),
  );
  for (let step = 0; step < most; step++) {
    const tokens = rows.map((row, i) => row.next(decoding, i));
    if (rows.every(({ finish }) => finish !== undefined) || step === most - 1) break;
    await decoding.append(tokens);
  }
  return rows.map((row) => row.said());
}

/** One completion as it grows. */
class Row {
  finish: Said["finish"] | undefined;
  readonly #options: GenerateOptions;
  readonly #promptTokens: number;
  readonly #rng: Rng;
  readonly #settings: Sampling;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #sampled: number[] = [];
  #text = "";

  constructor(promptTokens: number, rng: Rng, options: GenerateOptions) {
    const { temperature, top_k: topK, top_p: topP } = options.sampling;
    this.#promptTokens = promptTokens;
    this.#rng = rng;
    this.#options = options;
    this.#settings = { temperature, topK, topP };
  }

  /** Draws the next token; a row that has ended repeats its last one, which nobody reads. */
  next(decoding: Decoding, index: number): number {
    if (this.finish !== undefined) return this.#tokens.at(-1) ?? 0;
    const { tokenizer, sampling } = this.#options;
    const { token, logprob, sampled } = choose(
      decoding.row(index),
      this.#settings,
      this.#rng.next(),
    );
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    this.#sampled.push(sampled);
    if (tokenizer.endTokens.includes(token)) this.finish = "stop";
    else if (sampling.stop.length > 0) {
      this.#text = tokenizer.decode(this.#tokens);
      if (sampling.stop.some((stop) => this.#text.includes(stop))) this.finish = "stop";
    }
    return token;
  }

  said(): Sampled {
    const { tokenizer, sampling } = this.#options;
    const text = tokenizer.decode(this.#tokens.filter((id) => !tokenizer.endTokens.includes(id)));
    const ends = sampling.stop.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return {
      completion: ends.length > 0 ? text.slice(0, Math.min(...ends)) : text,
      finish: this.finish ?? "length",
      prompt_tokens: this.#promptTokens,
      completion_tokens: this.#tokens.length,
      tokens: this.#tokens,
      logprobs: this.#logprobs,
      sampled_logprobs: drawsFromPolicy(this.#settings) ? null : this.#sampled,
    };
  }
}
