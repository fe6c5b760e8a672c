/** The examples that rollouts are sampled for, from a file or from an environment: all in memory, each id once. */

import type { PlayableEnvironment, Split } from "../../core/environment.ts";
import { dataError, LockedRoomError } from "../../core/errors.ts";
import { PromptSet } from "../../core/prompt-set.ts";
import { type Example, toExample } from "../../core/records.ts";
import type { Encoder } from "../../engine/engine.ts";
import { openRows, type RowSource } from "../../runs/rows.ts";
import type { TrainManifest } from "../../runs/train-schemas.ts";

/** A file that was read, or tasks of an environment, as the manifest records them. */
export type InputRecord = TrainManifest["inputs"][number];

export interface Examples {
  readonly list: readonly Example[];
  /** What messages call them all. */
  readonly name: string;
  /** Where each example is, such as `file:line`. */
  readonly places: readonly string[];
  readonly input: InputRecord;
}

export function readExamples(file: string, role: string): Promise<Examples> {
  return readRows(file, role, file);
}

/** The first `most` tasks of a split; undefined where the environment has none. */
export async function readTasks(
  { environment, tasks }: PlayableEnvironment,
  split: Split,
  role: string,
  most = Number.POSITIVE_INFINITY,
): Promise<Examples | undefined> {
  const list = (await tasks(split)).slice(0, most);
  if (list.length === 0) return undefined;
  const found = await readRows(list, role, `${split} tasks of ${environment.identity.name}`);
  return { ...found, input: { ...found.input, split } };
}

/** `what` is the file, or what to call rows that have none. */
async function readRows(source: RowSource<unknown>, role: string, what: string): Promise<Examples> {
  const places: string[] = [];
  const rows = openRows(source, what, (fields, line) => {
    const example = toExample(fields);
    places.push(line === undefined ? `the ${what}` : `${what}:${line}`);
    return example;
  });
  const { label: name } = rows;
  const list: Example[] = [];
  const seen = new Map<string, string>();
  for await (const batch of rows.batches()) {
    for (const example of batch) {
      const place = places[list.length] as string;
      const before = seen.get(example.id);
      if (before !== undefined) {
        const first = before.replace(`${name}:`, "line ");
        throw dataError(
          `${place}: the id "${example.id}" appears twice, first in ${first}`,
          "Every example needs an id of its own: samples are addressed by it.",
        );
      }
      seen.set(example.id, place);
      list.push(example);
    }
  }
  if (list.length === 0) throw dataError(`${name} is empty`, "Give at least one example.");
  return { list, name, places, input: rows.asInput(role) };
}

export function promptsOf({ list }: Examples): PromptSet {
  const set = new PromptSet();
  for (const { prompt } of list) set.add(prompt);
  return set;
}

/** Tasks of an environment, or else a file. */
interface GivenExamples {
  readonly tasks?: Examples | undefined;
  readonly dataset: string;
}

/** How prompts become rows. */
interface Reader {
  readonly encoder: Encoder;
  /** In an environment of its own: what the policy reads is not the prompt itself. */
  readonly played?: boolean;
}

/** What a method that samples is given. */
export async function examplesIn({ tasks, dataset }: GivenExamples): Promise<Examples> {
  return tasks ?? (await readExamples(dataset, "examples"));
}

/** Tokens of the longest row: in an environment of its own an episode may fill the context. */
export function longestRow(
  examples: Examples,
  { encoder, played }: Reader,
  maxTokens: number,
): number {
  return played ? encoder.maxLength : longestPrompt(examples, encoder) + maxTokens;
}

/** Tokens of the longest prompt. One that leaves no room for an answer is refused before anything runs. */
function longestPrompt(examples: Examples, encoder: Encoder): number {
  let longest = 0;
  for (const [i, { id, prompt }] of examples.list.entries()) {
    const place = examples.places[i] as string;
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
    encodedAt(examples.places[i] as string, id, () => encoder.encode(completion));
  }
}
