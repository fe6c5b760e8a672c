/** The examples that rollouts are sampled for: all of them in memory, each id once. */

import { dataError } from "../../core/errors.ts";
import { normalisedPrompt } from "../../core/prompt-fingerprint.ts";
import { PromptSet } from "../../core/prompt-set.ts";
import { type Example, toExample } from "../../core/records.ts";
import type { Encoder } from "../../engine/engine.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import type { TrainManifest } from "../../runs/train-schemas.ts";

/** A file that was read, as the manifest records it. */
export type InputRecord = TrainManifest["inputs"][number];

export interface Examples {
  readonly list: readonly Example[];
  readonly input: InputRecord;
}

export async function readExamples(file: string, role: string): Promise<Examples> {
  const lines = new JsonlFile(file, toExample);
  const list: Example[] = [];
  const seen = new Set<string>();
  for await (const batch of lines.batches()) {
    for (const example of batch) {
      if (seen.has(example.id)) {
        throw dataError(
          `${file}: the id "${example.id}" appears twice`,
          "Every example needs an id of its own: samples are addressed by it.",
        );
      }
      seen.add(example.id);
      list.push(example);
    }
  }
  if (list.length === 0) throw dataError(`${file} is empty`, "Give at least one example.");
  return { list, input: lines.asInput(role) };
}

export function promptsOf({ list }: Examples): PromptSet {
  const set = new PromptSet();
  for (const { prompt } of list) set.add(prompt);
  return set;
}

/** Tokens of the longest prompt. One that leaves no room for an answer is refused before anything runs. */
export function longestPrompt({ list, input }: Examples, encoder: Encoder): number {
  let longest = 0;
  for (const { id, prompt } of list) {
    const { length } = encoder.promptTokens(prompt);
    if (length === 0) {
      throw dataError(
        `${input.path}: the prompt of "${id}" is empty, and the policy has no token to begin with`,
        "Give every prompt a text.",
      );
    }
    if (length + 1 > encoder.maxLength) {
      throw dataError(
        `${input.path}: the prompt of "${id}" has ${length} tokens, and the policy's context length is ${encoder.maxLength}`,
        "Shorten it, or use a policy with a longer context.",
      );
    }
    longest = Math.max(longest, length);
  }
  return longest;
}

export class HeldOutPrompts {
  readonly #known = new Map<string, Place>();

  constructor(sets: readonly Examples[]) {
    for (const [set, { list, input }] of sets.entries()) {
      for (const { id, prompt } of list) {
        const place = { id, file: input.path, set };
        const before = this.#known.get(normalisedPrompt(prompt));
        // The same file given twice overlaps with itself.
        if (before && before.set !== set) throw overlap(before, place);
        this.#known.set(normalisedPrompt(prompt), place);
      }
    }
  }

  /** Refuses a training prompt that is in a held-out set. */
  refuse(prompt: string, id: string, file: string): void {
    const found = this.#known.size > 0 && this.#known.get(normalisedPrompt(prompt));
    if (found) throw overlap({ id, file }, found);
  }
}

interface Place {
  readonly id: string;
  readonly file: string;
  /** Which of the sets it belongs to. */
  readonly set?: number;
}

function overlap(one: Place, other: Place): Error {
  return dataError(
    `${one.file} and ${other.file} share an example: "${one.id}" is "${other.id}"`,
    "Remove it from one of them: training, validation and test data must not overlap.",
  );
}
