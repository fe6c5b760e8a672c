/** The records that data files hold, and the checks that turn parsed JSON into them. */

import type { Json } from "./json.ts";

/**
 * The fields of an example beside its id and prompt; any JSON may stand in others.
 * @see {@link Example}
 */
export interface ExampleFields {
  readonly expected_answer?: Json;
  readonly metadata?: Json;
  readonly [extra: string]: Json | undefined;
}

/**
 * One task of a data set. `F` are its own fields, which must be JSON values: a scorer of such
 * examples is a `Scorer<F>`.
 * @example
 * ```ts
 * import { type Completion, type Example, evaluate, type Scorer } from "lockedroom";
 * interface Call { tool: string }
 * const dataset: Example<Call>[] = [{ id: "a", prompt: "What is the time?", tool: "clock" }];
 * const completions: Completion[] = [{ id: "a", completion: "clock()" }];
 * const scorer: Scorer<Call> = {
 *   name: "tool",
 *   version: "1.0.0",
 *   spec: "1 if the completion calls the tool, otherwise 0",
 *   score: ({ tool }, completion) =>
 *     completion.startsWith(`${tool}(`)
 *       ? { reward: 1, code: "called", details: {} }
 *       : { reward: 0, code: "not_called", details: {} },
 * };
 * await evaluate({ dataset, completions, outdir: "runs/calls", scorer });
 * ```
 */
export type Example<F extends object = ExampleFields> = {
  readonly id: string;
  readonly prompt: string;
} & Readonly<F>;

/** A completion of the example whose id it has. @see {@link Example} */
export interface Completion {
  readonly id: string;
  readonly completion: string;
  readonly sum_logprob?: number | null;
  readonly sum_ref_logprob?: number | null;
  /** Of the prompt that it answers (`promptFingerprint`); an example with another one is refused. */
  readonly prompt_fingerprint?: string;
}

/**
 * One sample of a pack: a bare string, or a completion whose id is the pack's.
 * @see {@link select}
 */
export interface Sample {
  readonly completion: string;
  readonly sum_logprob?: number | null;
  readonly sum_ref_logprob?: number | null;
}

/** The samples of one example. @see {@link select} */
export interface SelectionPack {
  readonly id: string;
  readonly samples: readonly (string | Sample)[];
  readonly prompt_fingerprint?: string;
}

/**
 * A completion whose reward is settled in advance; `id` names an example of the data set.
 * @see {@link validateScorer}
 */
export interface GoldenRow {
  readonly id: string;
  readonly completion: string;
  readonly expected_reward: number;
  readonly note: string;
  /** The loophole an exploit row tries; absent on correct rows. */
  readonly exploit_class?: string;
}

type Fields = Record<string, unknown>;

/** Beyond any real one; sums of many must stay numbers. */
const LARGEST_LOGPROB = 1e12;

/** Each `to…` throws a TypeError whose message names the field; the reader adds file and line. */
export function toExample(fields: Fields): Example {
  requireId(fields);
  requireString(fields, "prompt");
  return fields as unknown as Example;
}

export function toCompletion(fields: Fields): Completion {
  requireId(fields);
  requireSample(fields);
  requirePromptFingerprint(fields);
  return fields as unknown as Completion;
}

export function toSelectionPack(fields: Fields): SelectionPack {
  requireId(fields);
  const samples = fields.samples;
  if (!Array.isArray(samples)) throw wrong("samples", "a list", samples);
  for (let i = 0; i < samples.length; i++) {
    if (typeof samples[i] !== "string") requirePackSample(samples[i], i);
  }
  requirePromptFingerprint(fields);
  return fields as unknown as SelectionPack;
}

export function toGoldenRow(fields: Fields): GoldenRow {
  requireId(fields);
  requireString(fields, "completion");
  if (!Number.isFinite(fields.expected_reward)) {
    throw wrong("expected_reward", "a number", fields.expected_reward);
  }
  for (const key of ["note", "exploit_class"]) {
    if (fields[key] !== undefined) requireString(fields, key);
  }
  return { note: "", ...fields } as unknown as GoldenRow;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function requireId(fields: Fields): void {
  if (typeof fields.id !== "string" || fields.id === "") {
    throw wrong("id", "a non-empty string", fields.id);
  }
}

function requirePromptFingerprint({ prompt_fingerprint: value }: Fields): void {
  if (value === undefined || (typeof value === "string" && /^[0-9a-f]{16}$/.test(value))) return;
  throw wrong("prompt_fingerprint", "16 hexadecimal digits", value);
}

function requireSample(fields: Fields, prefix = ""): void {
  requireString(fields, "completion", prefix);
  requireLogprob(fields, "sum_logprob", prefix);
  requireLogprob(fields, "sum_ref_logprob", prefix);
}

function requirePackSample(sample: unknown, index: number): void {
  if (!isFields(sample)) throw wrong(`samples[${index}]`, "a string or an object", sample);
  try {
    requireSample(sample);
  } catch {
    requireSample(sample, `samples[${index}].`); // Again, for a message that says where.
  }
}

function requireString(fields: Fields, key: string, prefix = ""): void {
  if (typeof fields[key] !== "string") throw wrong(prefix + key, "a string", fields[key]);
}

function requireLogprob(fields: Fields, key: string, prefix: string): void {
  const value = fields[key];
  if (value === undefined || value === null) return;
  if (typeof value !== "number" || !(Math.abs(value) <= LARGEST_LOGPROB))
    throw wrong(prefix + key, "a number or null", value);
}

function wrong(field: string, expected: string, found: unknown): TypeError {
  return new TypeError(
    found === undefined
      ? `"${field}" is missing; it must be ${expected}`
      : `"${field}" must be ${expected}, found ${brief(found)}`,
  );
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
