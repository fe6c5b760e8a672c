/** The answers of a rollout, example by example, and the prompts where they can still be found. */

import path from "node:path";
import type { JsonObject } from "../core/json.ts";
import { isFields, toExample } from "../core/records.ts";
import { answersName } from "./finished-rollout.ts";
import { JsonlFile } from "./jsonl.ts";
import type { Rollout } from "./read-rollout.ts";
import type { RolloutManifest } from "./rollout-schemas.ts";

/** An answer as far as it is read. */
export interface ReadAnswer {
  readonly completion: string;
  readonly finish: string;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly refusal?: string;
}

/** The answers to one example. */
export interface AnswerPack {
  readonly id: string;
  readonly answers: readonly ReadAnswer[];
}

/** A fresh pass over the answers. */
export function answerPacks({ dir, manifest }: Rollout): JsonlFile<AnswerPack> {
  return new JsonlFile(path.join(dir, answersName(manifest)), toPack, { regular: true });
}

function toPack(fields: Record<string, unknown>): AnswerPack {
  const { id, samples, ...answer } = fields;
  if (typeof id !== "string") throw new TypeError("id: not a text");
  const answers = samples === undefined ? [answer] : samples;
  if (!Array.isArray(answers)) throw new TypeError("samples: not a list");
  return { id, answers: answers.map(toAnswer) };
}

function toAnswer(value: unknown): ReadAnswer {
  const isAnswer =
    isFields(value) && typeof value.completion === "string" && typeof value.finish === "string";
  if (!isAnswer) throw new TypeError("not an answer with completion and finish");
  const { prompt_tokens: prompt, completion_tokens: completed } = value as JsonObject;
  if (![prompt, completed].every((count) => count === null || Number.isSafeInteger(count)))
    throw new TypeError("prompt_tokens or completion_tokens: not a count");
  return value as unknown as ReadAnswer;
}

/** By id; undefined when the data set is not where it was, or is another one now. */
export async function promptsOf(
  { inputs }: RolloutManifest,
  ids: ReadonlySet<string>,
): Promise<Map<string, string> | undefined> {
  const input = inputs.find(({ role }) => role === "dataset");
  if (!input) return undefined;
  const dataset = new JsonlFile(input.path, toExample);
  const prompts = new Map<string, string>();
  try {
    for await (const batch of dataset.batches()) {
      for (const { id, prompt } of batch) if (ids.has(id)) prompts.set(id, prompt);
    }
  } catch {
    return undefined; // Moved, or damaged: the page is about the answers.
  }
  return dataset.sha256 === input.sha256 ? prompts : undefined;
}
