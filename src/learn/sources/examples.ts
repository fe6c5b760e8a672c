/** The examples that rollouts are sampled for: all of them in memory, each id once. */

import { dataError } from "../../core/errors.ts";
import { type Example, toExample } from "../../core/records.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import type { InputRecord } from "../source.ts";

/** How prompts become tokens. */
interface PromptReading {
  readonly promptTokens: (text: string) => readonly number[];
  readonly maxLength: number;
}

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
          `${file}: the id "${example.id}" is there twice`,
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

/** Tokens of the longest prompt. One that leaves no room for an answer is refused before anything runs. */
export function longestPrompt({ list, input }: Examples, reading: PromptReading): number {
  let longest = 0;
  for (const { id, prompt } of list) {
    const { length } = reading.promptTokens(prompt);
    if (length + 1 > reading.maxLength) {
      throw dataError(
        `${input.path}: the prompt of "${id}" has ${length} tokens, and the policy looks at ${reading.maxLength} at most`,
        "Shorten it, or take a policy with a longer view.",
      );
    }
    longest = Math.max(longest, length);
  }
  return longest;
}
