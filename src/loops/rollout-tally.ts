/** Counts a rollout's answers, their finish reasons, tokens and cost. */

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
  readonly #n = { n_answers: 0, n_empty: 0, n_refused: 0, n_with_logprobs: 0 };
  readonly #tokens = { prompt_tokens: 0, completion_tokens: 0, n_uncounted: 0 };

  add({ completion, finish, refusal, logprobs, ...answer }: Answer): void {
    this.#finish.set(finish, (this.#finish.get(finish) ?? 0) + 1);
    this.#n.n_answers++;
    if (completion === "") this.#n.n_empty++;
    if (refusal !== undefined) this.#n.n_refused++;
    if (logprobs !== undefined) this.#n.n_with_logprobs++;
    const { prompt_tokens: prompt, completion_tokens: completed } = answer;
    if (prompt === null || completed === null) this.#tokens.n_uncounted++;
    this.#tokens.prompt_tokens += prompt ?? 0;
    this.#tokens.completion_tokens += completed ?? 0;
  }

  summary(
    examples: number,
    prices: Prices | undefined,
  ): Omit<RolloutSummary, "schema" | "files" | "manifest_sha256"> {
    const { prompt_tokens: prompt, completion_tokens: completed } = this.#tokens;
    return {
      n_examples: examples,
      ...this.#n,
      finish: Object.fromEntries(this.#finish),
      cost: {
        ...this.#tokens,
        price_in: prices?.in ?? null,
        price_out: prices?.out ?? null,
        total: prices ? (prompt * prices.in + completed * prices.out) / PER : null,
      },
    };
  }
}
