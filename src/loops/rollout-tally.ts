/** Counts what came of a rollout: ends, tokens, money. */

import type { Answer } from "../core/policy.ts";
import type { RolloutSummary } from "../runs/rollout-schemas.ts";

/** Money for a million tokens. */
export interface Prices {
  readonly in: number;
  readonly out: number;
}

const PER = 1_000_000;

export class RolloutTally {
  readonly #finish = new Map<string, number>();
  #answers = 0;
  #empty = 0;
  #refused = 0;
  #withLogprobs = 0;
  #uncounted = 0;
  #promptTokens = 0;
  #completionTokens = 0;

  add(answer: Answer): void {
    this.#answers++;
    this.#finish.set(answer.finish, (this.#finish.get(answer.finish) ?? 0) + 1);
    if (answer.completion === "") this.#empty++;
    if (answer.refusal !== undefined) this.#refused++;
    if (answer.logprobs !== undefined) this.#withLogprobs++;
    if (answer.prompt_tokens === null || answer.completion_tokens === null) this.#uncounted++;
    this.#promptTokens += answer.prompt_tokens ?? 0;
    this.#completionTokens += answer.completion_tokens ?? 0;
  }

  summary(
    examples: number,
    prices: Prices | undefined,
  ): Omit<RolloutSummary, "schema" | "files" | "manifest_sha256"> {
    const [asked, said] = [this.#promptTokens, this.#completionTokens];
    return {
      n_examples: examples,
      n_answers: this.#answers,
      n_empty: this.#empty,
      n_refused: this.#refused,
      n_with_logprobs: this.#withLogprobs,
      finish: Object.fromEntries(this.#finish),
      cost: {
        prompt_tokens: asked,
        completion_tokens: said,
        n_uncounted: this.#uncounted,
        price_in: prices?.in ?? null,
        price_out: prices?.out ?? null,
        total: prices ? (asked * prices.in + said * prices.out) / PER : null,
      },
    };
  }
}
