/** Samples the choices of a request, and reports them as they grow. */

import type { EmbeddedPolicy } from "../policy/embedded.ts";
import type { CompletionRequest } from "./request.ts";
import { StreamingText, type TextDelta } from "./streaming-text.ts";

/** The next part of one choice. */
export interface ChoiceDelta extends TextDelta {
  readonly index: number;
}

/**
 * Samples of one prompt grow together, as many at once as the policy has places; prompts follow one
 * another. A sample depends only on the seed, its prompt and its index. Aborting ends the sampling.
 */
export async function* sampleChoices(
  policy: EmbeddedPolicy,
  { prompts, n, sampling, alternatives }: CompletionRequest,
  signal: AbortSignal,
): AsyncGenerator<ChoiceDelta, void, void> {
  const { tokenizer } = policy.checkpoint;
  const overrides = { sampling, alternatives: alternatives ?? 0 };
  for (const [index, prompt] of prompts.entries()) {
    const requests = Array.from({ length: n }, (_, sample) => ({
      prompt,
      address: [sampling.seed, "serve", index, sample],
    }));
    const texts = requests.map(() => new StreamingText(tokenizer, sampling.stop));
    signal.throwIfAborted();
    for await (const step of policy.generateSteps(requests, overrides)) {
      signal.throwIfAborted();
      for (const token of step) {
        const delta = texts[token.row]?.push(token);
        if (delta) yield { index: index * n + token.row, ...delta };
      }
    }
  }
}

/** The whole choices. */
export function joinDeltas(deltas: readonly ChoiceDelta[]): ChoiceDelta[] {
  const choices: ChoiceDelta[] = [];
  for (const delta of deltas) {
    const before = choices[delta.index];
    choices[delta.index] = {
      ...delta,
      text: (before?.text ?? "") + delta.text,
      tokens: [...(before?.tokens ?? []), ...delta.tokens],
    };
  }
  return choices;
}

/** Every sampled token counts, including one that ends the text and is not part of it. */
export function usageOf({ prompts }: CompletionRequest, completionTokens: number) {
  const promptTokens = prompts.reduce((sum, prompt) => sum + prompt.length, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
