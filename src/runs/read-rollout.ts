/** Opens a finished rollout for reading: its answers, and the prompts where they can still be found. */

import path from "node:path";
import type { JsonObject } from "../core/json.ts";
import { isFields, toExample } from "../core/records.ts";
import { MANIFEST, SUMMARY } from "./artifacts.ts";
import { answersName } from "./finished-rollout.ts";
import { requireFinished, requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { manifestFingerprint } from "./manifest.ts";
import {
  type RolloutManifest,
  type RolloutSummary,
  rolloutManifestSchema,
  rolloutSummarySchema,
} from "./rollout-schemas.ts";
import { readArtifact, sha256OfFile } from "./whole-file.ts";

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

export interface Rollout {
  readonly dir: string;
  readonly manifest: RolloutManifest;
  readonly summary: RolloutSummary;
  readonly manifestIntact: boolean;
  /** The name of the file of answers. */
  readonly answersName: string;
  /** The SHA-256 of a further file; undefined when it is not there. */
  hashOf(name: string): Promise<string | undefined>;
  /** A fresh pass over the answers; compare its `sha256` with the summary's when it has ended. */
  answers(): JsonlFile<AnswerPack>;
  /** By id; undefined when the data set is not where it was, or is another one now. */
  prompts(ids: ReadonlySet<string>): Promise<Map<string, string> | undefined>;
}

const AGAIN = "Run the rollout again.";

export async function openRollout(dir: string): Promise<Rollout> {
  requireFinished(dir, await requireKind(dir, ["rollout"]));
  const manifest = await readArtifact(path.join(dir, MANIFEST), rolloutManifestSchema, AGAIN);
  const summary = await readArtifact(path.join(dir, SUMMARY), rolloutSummarySchema, AGAIN);
  const name = answersName(manifest.n);
  return {
    ...{ dir, manifest, summary, answersName: name },
    manifestIntact: manifestFingerprint(manifest) === summary.manifest_sha256,
    hashOf: (file) => sha256OfFile(path.join(dir, file)).catch(() => undefined),
    answers: () => new JsonlFile(path.join(dir, name), toPack),
    prompts: (ids) => promptsOf(manifest, ids),
  };
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

async function promptsOf(
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
