/** Samples completions; the random numbers of each depend on its address alone. */

import { dataError } from "../core/errors.ts";
import {
  Completion,
  type GeneratedToken,
  type GenerateOptions,
  type Generation,
  type GenerationRequest,
} from "./completion.ts";
import type { Decoder } from "./decoder.ts";
import { inPlaces } from "./places.ts";
import { samplesFromPolicy } from "./sample-token.ts";

export type {
  GeneratedToken,
  GenerateOptions,
  Generation,
  GenerationRequest,
} from "./completion.ts";

/** Any number of completions, in the order of the requests; `decoder.batch` of them grow at a time. */
export async function generateAll(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): Promise<Generation[]> {
  const generations: Generation[] = [];
  for await (const one of generateEach(decoder, requests, options)) generations.push(one);
  return generations;
}

/** The same, each as soon as it and those before it have ended. */
export async function* generateEach(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): AsyncGenerator<Generation, void, void> {
  const ended = new Map<number, Generation>();
  let next = 0;
  for await (const grown of advance(decoder, requests, options)) {
    for (const one of grown) if (one.ended) ended.set(one.index, one.generation());
    for (let found = ended.get(next); found; found = ended.get(next)) {
      yield found;
      ended.delete(next++);
    }
  }
}

/** The same, token by token; sampling stops when the consumer returns. */
export async function* generateSteps(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): AsyncGenerator<readonly GeneratedToken[], void, void> {
  for await (const grown of advance(decoder, requests, options)) {
    yield grown.map((one) => one.lastToken());
  }
}

/** Refuses prompts that leave no room for a token, or have none. */
export function requirePromptTokens(
  prompts: readonly (readonly number[])[],
  maxLength: number,
): void {
  const longest = largest(prompts.map(({ length }) => length));
  if (longest + 1 > maxLength) {
    throw dataError(
      `a prompt has ${longest} tokens, but the policy's context length is ${maxLength}`,
      "Shorten the prompt, or use a policy with a longer context.",
    );
  }
  if (prompts.some(({ length }) => length === 0)) {
    throw dataError(
      "a prompt is empty, and the policy has no token to begin with",
      "Give every prompt a text.",
    );
  }
}

/** The completions that got a token, after each step. */
async function* advance(
  decoder: Decoder,
  requests: readonly GenerationRequest[],
  options: GenerateOptions,
): AsyncGenerator<readonly Completion[], void, void> {
  if (requests.length === 0) return;
  const { parameters, sampling, maxLength } = options;
  const prompts = requests.map(({ prompt }) => prompt);
  requirePromptTokens(prompts, maxLength);
  // Each has its own limit, so that it does not depend on the others.
  const limits = prompts.map(({ length }) => Math.min(sampling.max_tokens, maxLength - length));
  const room = largest(prompts.map(({ length }, i) => length + (limits[i] as number)));
  const scores = samplesFromPolicy(sampling) ? "probabilities" : "logits";
  const completions = requests.map(
    (request, i) => new Completion(i, request, limits[i] as number, options, scores),
  );
  const decoding = decoder.begin(parameters, { prompts, room, scores });
  try {
    yield* inPlaces(decoding, completions);
  } finally {
    decoding.end();
  }
}

/** There may be more numbers than a function takes arguments. */
function largest(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.max(a, b), 0);
}
