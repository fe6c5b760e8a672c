/** The examples that rollouts are sampled for: all of them in memory, each id once. */

import { dataError, LockedRoomError } from "../../core/errors.ts";
import { PromptSet } from "../../core/prompt-set.ts";
import { type Example, toExample } from "../../core/records.ts";
import type { Encoder } from "../../engine/engine.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import type { TrainManifest } from "../../runs/train-schemas.ts";

/** A file that was read, as the manifest records it. */
export type InputRecord = TrainManifest["inputs"][number];

export interface Examples {
  readonly list: readonly Example[];
  /** The line of each example in its file. */
  readonly lines: readonly number[];
  readonly input: InputRecord;
}

export async function readExamples(file: string, role: string): Promise<Examples> {
  const lines: number[] = [];
  const rows = new JsonlFile(file, (fields, line) => {
    const example = toExample(fields);
    lines.push(line);
    return example;
  });
  const list: Example[] = [];
  const seen = new Map<string, number>();
  for await (const batch of rows.batches()) {
    for (const example of batch) {
      const line = lines[list.length] as number;
      const before = seen.get(example.id);
      if (before !== undefined) {
        throw dataError(
          `${file}:${line}: the id "${example.id}" appears twice, first in line ${before}`,
          "Every example needs an id of its own: samples are addressed by it.",
        );
      }
      seen.set(example.id, line);
      list.push(example);
    }
  }
  if (list.length === 0) throw dataError(`${file} is empty`, "Give at least one example.");
  return { list, lines, input: rows.asInput(role) };
}

/** Where an example is, as `file:line`. */
export function placeOf({ lines, input }: Examples, index: number): string {
  return `${input.path}:${lines[index]}`;
}

export function promptsOf({ list }: Examples): PromptSet {
  const set = new PromptSet();
  for (const { prompt } of list) set.add(prompt);
  return set;
}

/** Tokens of the longest prompt. One that leaves no room for an answer is refused before anything runs. */
export function longestPrompt(examples: Examples, encoder: Encoder): number {
  let longest = 0;
  for (const [i, { id, prompt }] of examples.list.entries()) {
    const place = placeOf(examples, i);
    const { length } = encodedAt(place, id, () => encoder.promptTokens(prompt));
    if (length === 0) {
      throw dataError(
        `${place}: the prompt of "${id}" is empty, and the policy has no token to begin with`,
        "Give every prompt a text.",
      );
    }
    if (length + 1 > encoder.maxLength) {
      throw dataError(
        `${place}: the prompt of "${id}" has ${length} tokens, and the policy's context length is ${encoder.maxLength}`,
        "Shorten it, or use a policy with a longer context.",
      );
    }
    longest = Math.max(longest, length);
  }
  return longest;
}

/** Names the row of a text that the policy cannot read. */
export function encodedAt<T>(place: string, id: string, encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    throw dataError(`${place}: in "${id}", ${error.message}`, error.hint);
  }
}

/** Held-out texts, of which a loss is computed: their completions must be readable too. */
export function checkCompletions(examples: Examples, encoder: Encoder): void {
  for (const [i, { id, completion }] of examples.list.entries()) {
    if (typeof completion !== "string") continue;
    encodedAt(placeOf(examples, i), id, () => encoder.encode(completion));
  }
}
