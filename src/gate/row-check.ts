/** What looks at the rows of a run for scores that nobody gave them. */

import type { ResultRow } from "../runs/schemas.ts";

/** Rows whose recorded score is not the one that the scorer gives. */
export interface Differing {
  readonly rows: number;
  readonly first_ids: readonly string[];
}

/** Looks at rows in batches for scores that nobody gave them. */
export interface RowCheck {
  readonly differing: Differing | null;
  /** The reason that differing rows are refused for, where it is not that of a scorer. */
  readonly words?: { readonly code: string; readonly message: string };
  /** True when enough rows wait for `settle`. */
  add(row: ResultRow): boolean;
  settle(): Promise<void>;
  /** Looks at what is left. */
  finish(): Promise<void>;
}
