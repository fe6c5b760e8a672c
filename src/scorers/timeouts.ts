/** Rows on which a scorer ran over its time limit, and when to stop trying it. */

import { type CheckedScore, SCORER_ERROR } from "../core/score.ts";

/** After this many rows over the limit the scorer counts as hung and the rest is not tried. */
export const MAX_TIMEOUTS = 3;

export function scorerError(message: string): CheckedScore {
  return { reward: null, code: SCORER_ERROR, details: { message } };
}

export const timedOut = (limitMs: number): CheckedScore =>
  scorerError(`the scorer did not return within ${limitMs} ms`);
export const notTried = (): CheckedScore =>
  scorerError(`not scored: the scorer had already run over its limit on ${MAX_TIMEOUTS} rows`);

/**
 * Counts timeouts in row order. Rows behind the last one that is allowed are overruled even if they
 * were scored ahead of their turn, so that the rows are the same for any number of calls at once.
 */
export class TimeoutCount {
  readonly #timeout: string;
  #timeouts = 0;

  constructor(limitMs: number) {
    this.#timeout = JSON.stringify(timedOut(limitMs));
  }

  get tripped(): boolean {
    return this.#timeouts >= MAX_TIMEOUTS;
  }

  /** The row as it counts. */
  count(row: CheckedScore): CheckedScore {
    if (this.tripped) return notTried();
    if (row.reward === null && JSON.stringify(row) === this.#timeout) this.#timeouts++;
    return row;
  }
}
