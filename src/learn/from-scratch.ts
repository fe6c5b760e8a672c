/** What a policy from scratch is made of: vocabulary and context from its texts, and advice from their amount. */

import { dataError } from "../core/errors.ts";
import type { Size } from "../policy/initialise.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { partsOf, toText } from "./sources/texts.ts";

/** What a file of texts needs. */
export interface TextSurvey {
  readonly texts: number;
  /** Characters of the completions, and an end for each: what is learned. */
  readonly tokens: number;
  /** Each character once, in order. */
  readonly alphabet: string;
  /** Characters of the longest text, prompt and completion. */
  readonly longest: number;
}

/** A policy from scratch before its first update. */
export interface ScratchPolicy extends TextSurvey {
  readonly size: Size;
  readonly parameters: number;
  /** Characters and special tokens. */
  readonly vocabulary: number;
  /** Most tokens of a row. */
  readonly context: number;
}

export async function surveyTexts(file: string): Promise<TextSurvey> {
  const characters = new Set<string>();
  let [longest, texts, tokens] = [0, 0, 0];
  for await (const batch of new JsonlFile(file, toText).batches()) {
    for (const turns of batch.flat().map(partsOf)) {
      // Each turn but the last is followed by a token for its end.
      let length = turns.length - 1;
      for (const [prompt, completion] of turns) {
        const own = [...completion];
        const text = [...prompt, ...own];
        for (const character of text) characters.add(character);
        length += text.length;
        tokens += own.length + 1;
      }
      longest = Math.max(longest, length);
      texts++;
    }
  }
  if (characters.size === 0)
    throw dataError(`${file} is empty`, "Give rows with prompt and completion.");
  return { alphabet: [...characters].sort().join(""), longest, texts, tokens };
}

/** Tokens that the context has room for unless it is set: at least 64, in steps of 16. */
export function contextFor(longest: number): number {
  // A text has a token at its start and one at its end.
  return Math.max(64, Math.ceil((longest + 2) / 16) * 16);
}

export interface ScratchAdvice {
  /** How often each text is seen in the run as it is set. */
  readonly passes: number;
  readonly size: Size;
  readonly steps: number;
}

/** Passes over the texts that are usually enough; far more of them are learned by heart. */
const USUAL_PASSES = 20;
const [FEWEST_STEPS, MOST_STEPS] = [200, 20_000];

/** Tokens to learn from which a larger size pays; a smaller policy learns fewer just as well, and faster. */
const WORTH: readonly (readonly [Size, number])[] = [
  ["small", 10_000_000],
  ["micro", 500_000],
  ["nano", 0],
];

/** Rules of thumb from the amount of data. */
export function scratchAdvice(
  { texts, tokens }: Pick<TextSurvey, "texts" | "tokens">,
  { steps, batch }: { readonly steps: number; readonly batch: number },
): ScratchAdvice {
  const [size] = WORTH.find(([, least]) => tokens >= least) ?? ["nano" as const];
  const usual = Math.ceil((USUAL_PASSES * texts) / batch / 50) * 50;
  return {
    passes: (steps * batch) / texts,
    size,
    steps: Math.min(MOST_STEPS, Math.max(FEWEST_STEPS, usual)),
  };
}
