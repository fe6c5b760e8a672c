/** A reduction as a weight for each completion token of each row. */

import type { Reduction } from "./loss.ts";

export interface BatchSize {
  /** Rows of the whole batch. */
  readonly rows: number;
  /** Learned tokens of the whole batch. */
  readonly tokens: number;
  /** Learned tokens of the part that is computed at once. */
  readonly partTokens: number;
  /** How many parts the batch comes in. */
  readonly parts: number;
  /** The most tokens that a completion may have. */
  readonly maxTokens: number;
}

/** The weight of each token of a row with `length` learned tokens. */
export function weightOf(reduction: Reduction, length: number, size: BatchSize): number {
  if (length === 0) return 0;
  switch (reduction) {
    case "sequences":
      return 1 / size.rows;
    case "grpo":
      return 1 / (size.rows * length);
    case "bnpo":
      return 1 / (size.partTokens * size.parts);
    case "dapo":
      return 1 / size.tokens;
    case "dr_grpo":
      return 1 / (size.rows * size.maxTokens);
  }
}
