/**
 * What a scorer is, and what the harness makes of its answers. The same scorer object, unchanged,
 * serves evaluation, selection and training.
 */

import type { Json, JsonObject } from "./json.ts";
import type { Example, ExampleFields } from "./records.ts";
import { visible } from "./visible.ts";

/**
 * A scorer's answer. `code` is one of the scorer's own closed set of outcome codes. A scorer that
 * parses an answer gives it in `details.parsed`; majority votes count those.
 * @see {@link Scorer}
 */
export interface ScoreResult {
  readonly reward: number;
  readonly code: string;
  readonly details: JsonObject;
}

/**
 * Deterministic, total, explainable, versioned. `F` are the fields of the examples that it scores.
 * @example
 * ```ts
 * import { evaluate, type Scorer } from "lockedroom";
 * // A language model that grades: asynchronous, and not the same every time.
 * const judge: Scorer = {
 *   name: "polite",
 *   version: "1.0.0",
 *   spec: "1 if a judge finds the completion polite, otherwise 0",
 *   deterministic: false,
 *   async score(_example, completion) {
 *     const polite = await Promise.resolve(completion.includes("please")); // A call to a model.
 *     return { reward: polite ? 1 : 0, code: polite ? "polite" : "rude", details: {} };
 *   },
 * };
 * await evaluate({
 *   dataset: "dataset.jsonl",
 *   completions: "completions.jsonl",
 *   outdir: "runs/polite",
 *   scorer: judge,
 *   concurrency: 16,
 *   timeoutMs: 60_000,
 * });
 * ```
 */
export interface Scorer<F extends object = ExampleFields> {
  readonly name: string;
  readonly version: string;
  /** The rule in words; it is copied into every manifest. */
  readonly spec: string;
  /** Optional closed set: an answer with any other code counts as a broken scorer. */
  readonly codes?: readonly string[];
  /**
   * The kind of failure of a code, by code, as `inspect-run` shows it. `model_format`: the scorer could
   * not read an answer; the training report looks for drift in these. The manifest records it.
   */
  readonly classes?: Readonly<Record<string, string>>;
  /**
   * False for a non-deterministic scorer, such as a language model that grades: each row is then
   * scored once and not checked for determinism. The manifest records it.
   */
  readonly deterministic?: boolean;
  /**
   * The lowest and the highest possible reward; an answer beyond them counts as a broken scorer. With
   * rewards other than 0 and 1 the gate needs it to rule out a loss. The manifest records it.
   */
  readonly range?: readonly [low: number, high: number];
  /** The answer or a promise of it; many promises may be open at once (`concurrency`). */
  score(example: Example<F>, completion: string): ScoreResult | Promise<ScoreResult>;
}

/**
 * Who scored: the declared name and version, and the content of the code that ran.
 * @see {@link openScorer}
 */
export interface ScorerIdentity {
  readonly name: string;
  readonly version: string;
  readonly spec: string;
  readonly source_sha256: string;
  /** The file as the user named it; null for a built-in and for a scorer object. */
  readonly path: string | null;
  /**
   * What `source_sha256` covers. Absent: the file, all that it imports, and the files that it reads
   * while it loads. `function_text`:
   * a scorer object's `score` as text, its codes and spec; not what the function captures or calls.
   */
  readonly source?: "function_text";
  /**
   * Of the file and the modules that its text names, which is known without running it. Present where
   * `source_sha256` covers more, such as a file that the scorer reads.
   */
  readonly code_sha256?: string;
  /**
   * Of a grader that is computed from its JSON alone: that JSON, as its file has it, so that its
   * rewards can be checked without the file.
   */
  readonly grader?: JsonObject;
  /** Present when the scorer declares itself non-deterministic. */
  readonly deterministic?: false;
  /** Present when the scorer declares them. */
  readonly classes?: Readonly<Record<string, string>>;
  readonly range?: [low: number, high: number];
}

/** The class of outcome codes for completions in which the scorer found no answer to score. */
export const FORMAT_FAILURE = "model_format";

/** Nothing to score. */
export const MISSING_COMPLETION = "missing_completion";
/** We broke, not the model. Never a zero. */
export const SCORER_ERROR = "scorer_error";
/**
 * A scorer's code for an example that it cannot read, such as one without a usable expected answer.
 * Whatever reward comes with it, the row has none: nothing was measured.
 */
export const INVALID_EXAMPLE = "invalid_example";
/** The harness's own codes, which no scorer may return. */
export const HARNESS_CODES: readonly string[] = [MISSING_COMPLETION, SCORER_ERROR];

/**
 * One row's verdict after the harness has checked the scorer's answer; a null reward is no reward.
 * @see {@link openScorer}
 */
export interface CheckedScore {
  readonly reward: number | null;
  readonly code: string;
  readonly details: Json;
}

/** A scorer's answer as a row has it: an example that the scorer cannot read gives no reward. */
export function asRecorded(result: ScoreResult): CheckedScore {
  return result.code === INVALID_EXAMPLE ? { ...result, reward: null } : result;
}

/**
 * What a scorer throws to give its error row more than a message.
 * @see {@link Scorer}
 */
export class ScorerFailure extends Error {
  override readonly name = "ScorerFailure";
  readonly details: JsonObject;

  constructor(message: string, details: JsonObject = {}) {
    super(message);
    this.details = details;
  }
}

/** An example and a completion to score. @see {@link openScorer} */
export interface ScoreRequest {
  readonly example: Example;
  readonly completion: string;
}

/**
 * A scorer made safe to call on any row: if it throws, hangs or is not deterministic, the row says
 * so.
 * @see {@link openScorer}
 */
export interface GuardedScorer {
  readonly identity: ScorerIdentity;
  /** How many batches may usefully be in flight at once. */
  readonly concurrency: number;
  /** How long one row may take. */
  readonly timeoutMs: number;
  /** True for a built-in, which may be asked about examples beforehand: a call costs and changes nothing. */
  readonly builtIn?: boolean;
  scoreBatch(batch: readonly ScoreRequest[]): Promise<CheckedScore[]>;
  close(): Promise<void>;
}

/** Names of scorers and outcomes are printed everywhere, so they are short and plainly visible. */
export function isName(text: string): boolean {
  return text !== "" && text.length <= 100 && visible(text) === text;
}

/**
 * Whether a row passed: of an episode, whether its environment calls the task solved; otherwise by its
 * reward.
 */
export function hasPassed(row: {
  readonly reward: number | null;
  readonly passed?: boolean | undefined;
}): boolean {
  return row.reward !== null && (row.passed ?? passes(row.reward));
}

/** Whether an episode passed: its code is one of a solved task, and it could be scored. */
export function isSolved(
  { reward, code }: { readonly reward: number | null; readonly code: string },
  solved: readonly string[],
): boolean {
  return reward !== null && solved.includes(code);
}

/**
 * Whether a reward is the full mark; without a reward nothing passes.
 * @example
 * ```ts
 * import { passes } from "lockedroom";
 * console.log(passes(1), passes(0.5), passes(null)); // true false false
 * ```
 */
export function passes(reward: number | null): boolean {
  return reward !== null && reward >= 1;
}
