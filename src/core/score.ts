/**
 * What a scorer is, and what the harness makes of its answers. The same scorer object, unchanged,
 * serves evaluation, selection and training.
 */

import type { Json, JsonObject } from "./json.ts";
import type { Example, ExampleFields } from "./records.ts";
import { visible } from "./visible.ts";

/**
 * A scorer's answer. `code` is one of the scorer's own closed set of outcome codes. A scorer that
 * reads an answer out of the text says which in `details.parsed`; majority votes count those.
 */
export interface ScoreResult {
  readonly reward: number;
  readonly code: string;
  readonly details: JsonObject;
}

/** Deterministic, total, explainable, versioned. `F` are the fields of the examples that it scores. */
export interface Scorer<F extends object = ExampleFields> {
  readonly name: string;
  readonly version: string;
  /** The rule in words; it is copied into every manifest. */
  readonly spec: string;
  /** Optional closed set: an answer with any other code counts as a broken scorer. */
  readonly codes?: readonly string[];
  /**
   * False for a scorer that may answer differently when it is asked again, such as a language model
   * that grades: each row is then scored once and not checked for determinism. The manifest says so.
   */
  readonly deterministic?: boolean;
  /** The answer or a promise of it; many promises may be open at once (`concurrency`). */
  score(example: Example<F>, completion: string): ScoreResult | Promise<ScoreResult>;
}

/** Who scored: the declared name and version, and the content of the code that ran. */
export interface ScorerIdentity {
  readonly name: string;
  readonly version: string;
  readonly spec: string;
  readonly source_sha256: string;
  /** The file as the user named it; null for a built-in and for a scorer object. */
  readonly path: string | null;
  /**
   * What `source_sha256` covers. Absent: the file and everything it imports locally. `function_text`:
   * a scorer object's `score` as text, its codes and spec; not what the function captures or calls.
   */
  readonly source?: "function_text";
  /** Present when the scorer declares that it may answer differently if asked again. */
  readonly deterministic?: false;
}

/** Nothing to score. */
export const MISSING_COMPLETION = "missing_completion";
/** We broke, not the model. Never a zero. */
export const SCORER_ERROR = "scorer_error";
/** The harness's own codes, which no scorer may return. */
export const HARNESS_CODES: readonly string[] = [MISSING_COMPLETION, SCORER_ERROR];

/** One row's verdict after the harness has checked the scorer's answer; a null reward is no reward. */
export interface CheckedScore {
  readonly reward: number | null;
  readonly code: string;
  readonly details: Json;
}

export interface ScoreRequest {
  readonly example: Example;
  readonly completion: string;
}

/** A scorer made safe to call on any row: if it throws, hangs or is not deterministic, the row says so. */
export interface GuardedScorer {
  readonly identity: ScorerIdentity;
  /** How many batches may usefully be in flight at once. */
  readonly concurrency: number;
  /** How long one row may take. */
  readonly timeoutMs: number;
  scoreBatch(batch: readonly ScoreRequest[]): Promise<CheckedScore[]>;
  close(): Promise<void>;
}

/** Names of scorers and outcomes are printed everywhere, so they are short and plainly visible. */
export function isName(text: string): boolean {
  return text !== "" && text.length <= 100 && visible(text) === text;
}

/** A row passes when it earns the full mark. */
export const PASS_REWARD = 1;

export function passes(reward: number | null): boolean {
  return reward !== null && reward >= PASS_REWARD;
}
