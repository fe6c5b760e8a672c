/** Samples what a request asks for, and shows it as it grows. */

import type { EmbeddedPolicy } from "../policy/embedded.ts";
import type { Asked } from "./asked.ts";
import { type Shown, Unfolding } from "./unfolding.ts";

/** A part of one choice. */
export interface Piece extends Shown {
  readonly index: number;
}

/**
 * The samples of a prompt grow together, as many at once as the policy's batch holds; prompts follow
 * one another. The seed and the place of a sample are its whole luck. `goOn` throws when nobody waits
 * any longer, which ends the sampling.
 */
export async function* piecesOf(
  policy: EmbeddedPolicy,
  { prompts, n, sampling, alternatives }: Asked,
  goOn: () => void,
): AsyncGenerator<Piece, void, void> {
  const { tokenizer } = policy.checkpoint;
  for (const [place, prompt] of prompts.entries()) {
    for (let first = 0; first < n; first += policy.batch) {
      const samples = Array.from(
        { length: Math.min(policy.batch, n - first) },
        (_, i) => first + i,
      );
      const wanted = samples.map((sample) => ({
        prompt,
        address: [sampling.seed, "serve", place, sample],
      }));
      const texts = samples.map(() => new Unfolding(tokenizer, sampling.stop));
      goOn();
      const overrides = { sampling, alternatives: alternatives ?? 0 };
      for await (const step of policy.generateSteps(wanted, overrides)) {
        goOn();
        for (const drawn of step) {
          const shown = texts[drawn.row]?.take(drawn);
          if (shown) yield { index: place * n + first + drawn.row, ...shown };
        }
      }
    }
  }
}

/** The pieces of each choice put together. */
export function gathered(pieces: readonly Piece[]): Piece[] {
  const choices: Piece[] = [];
  for (const piece of pieces) {
    const before = choices[piece.index];
    choices[piece.index] = {
      ...piece,
      text: (before?.text ?? "") + piece.text,
      tokens: [...(before?.tokens ?? []), ...piece.tokens],
    };
  }
  return choices;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Every token that was sampled counts, also one that ends the text and is not shown in it. */
export function usageOf({ prompts }: Asked, completionTokens: number): Usage {
  const promptTokens = prompts.reduce((sum, prompt) => sum + prompt.length, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
