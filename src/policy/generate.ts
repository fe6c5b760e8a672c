/** Samples completions in batches; each row's luck depends on its address alone. */

import { dataError } from "../core/errors.ts";
import type { Said, SamplingSettings } from "../core/policy.ts";
import { type Coordinate, type Rng, rngAt } from "../core/rng.ts";
import {
  type Choice,
  choose,
  drawsFromPolicy,
  type Likely,
  likeliest,
  type Sampling,
} from "./choose.ts";
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
  /** How many of the likeliest tokens to name beside each that is drawn; none unless asked for. */
  readonly alternatives?: number | undefined;
}

/** A token at the moment it is drawn. */
export interface Drawn extends Choice {
  /** Which of the wanted completions it belongs to. */
  readonly row: number;
  readonly alternatives: readonly Likely[];
  /** The whole completion, where this token ends it. */
  readonly said: Sampled | null;
}

/** At most `decoder.batch` completions at once, in the order asked for. */
export async function generateBatch(
  decoder: Decoder,
  wanted: readonly Wanted[],
  options: GenerateOptions,
): Promise<Sampled[]> {
  const whole: Sampled[] = [];
  for await (const step of generateSteps(decoder, wanted, options)) {
    for (const { row, said } of step) if (said) whole[row] = said;
  }
  return whole;
}

/** The same, token by token; whoever stops listening stops the sampling. */
export async function* generateSteps(
  decoder: Decoder,
  wanted: readonly Wanted[],
  options: GenerateOptions,
): AsyncGenerator<readonly Drawn[], void, void> {
  const { sampling, maxLength } = options;
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
    options.parameters,
    wanted.map(({ prompt }) => prompt),
    Math.max(...wanted.map(({ prompt }, i) => prompt.length + (limits[i] as number))),
  );
  const rows = wanted.map(
    ({ prompt, address }) => new Row(prompt.length, rngAt(...address), options),
  );
  for (let drawn = 1; ; drawn++) {
    const step: Drawn[] = [];
    for (const [index, row] of rows.entries()) {
      if (row.finish === undefined) step.push(row.draw(decoding, index, drawn === limits[index]));
    }
    yield step;
    if (rows.every(({ finish }) => finish !== undefined)) return;
    await decoding.append(rows.map(({ last }) => last));
  }
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

  constructor(promptTokens: number, rng: Rng, options: GenerateOptions) {
    const { temperature, top_k: topK, top_p: topP } = options.sampling;
    this.#promptTokens = promptTokens;
    this.#rng = rng;
    this.#options = options;
    this.#settings = { temperature, topK, topP };
  }

  /** A row that has ended repeats this one, which nobody reads. */
  get last(): number {
    return this.#tokens.at(-1) ?? 0;
  }

  /** Draws the next token; `full` says that there is no room for another one. */
  draw(decoding: Decoding, row: number, full: boolean): Drawn {
    const { tokenizer, sampling, alternatives = 0 } = this.#options;
    const logits = decoding.row(row);
    const { token, logprob, sampled } = choose(logits, this.#settings, this.#rng.next());
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    this.#sampled.push(sampled);
    if (tokenizer.endTokens.includes(token)) this.finish = "stop";
    else if (sampling.stop.length > 0) {
      const text = tokenizer.decode(this.#tokens);
      if (sampling.stop.some((stop) => text.includes(stop))) this.finish = "stop";
    }
    if (full) this.finish ??= "length";
    return {
      ...{ token, logprob, sampled, row },
      alternatives: likeliest(logits, alternatives),
      said: this.finish === undefined ? null : this.#said(this.finish),
    };
  }

  #said(finish: Said["finish"]): Sampled {
    const { tokenizer, sampling } = this.#options;
    const text = tokenizer.decode(this.#tokens.filter((id) => !tokenizer.endTokens.includes(id)));
    const ends = sampling.stop.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return {
      completion: ends.length > 0 ? text.slice(0, Math.min(...ends)) : text,
      finish,
      prompt_tokens: this.#promptTokens,
      completion_tokens: this.#tokens.length,
      tokens: this.#tokens,
      logprobs: this.#logprobs,
      sampled_logprobs: drawsFromPolicy(this.#settings) ? null : this.#sampled,
    };
  }
}
