/** Opens a scorer for use by the loops: guarded, and spread over threads when asked. */

import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import { MAX_TIMEOUTS, notTried, scoreBatch, timedOut } from "./guard.ts";
import { DEFAULT_SCORER, loadScorer } from "./load.ts";
import { openPool } from "./pool.ts";

export interface OpenScorerOptions {
  /** Threads; 1 scores in this one. The answers do not depend on it. */
  readonly jobs?: number;
  /** Limit for one row in milliseconds. */
  readonly timeoutMs?: number;
}

export const DEFAULT_TIMEOUT_MS = 1000;

/** Opens a built-in scorer by name or a user's by file. Close it when done. */
export async function openScorer(
  nameOrPath: string = DEFAULT_SCORER,
  { jobs = 1, timeoutMs = DEFAULT_TIMEOUT_MS }: OpenScorerOptions = {},
): Promise<GuardedScorer> {
  const loaded = await loadScorer(nameOrPath);
  const lane =
    jobs > 1
      ? openPool(nameOrPath, jobs, timeoutMs)
      : {
          scoreBatch: async (batch: readonly ScoreRequest[]) =>
            scoreBatch(loaded, batch, timeoutMs),
          close: async () => {},
        };
  const breaker = new Breaker(timeoutMs);
  return {
    identity: loaded.identity,
    concurrency: jobs,
    timeoutMs,
    scoreBatch: loaded.trusted ? lane.scoreBatch : (batch) => breaker.run(batch, lane.scoreBatch),
    close: lane.close,
  };
}

/**
 * Gives up on a hung scorer after a few rows, counted in row order: batches that ran ahead on
 * other threads are overruled, so that the rows are the same for any number of threads.
 */
class Breaker {
  readonly #timeout: string;
  #timeouts = 0;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(timeoutMs: number) {
    this.#timeout = JSON.stringify(timedOut(timeoutMs));
  }

  async run(
    batch: readonly ScoreRequest[],
    scoreBatch: (batch: readonly ScoreRequest[]) => Promise<CheckedScore[]>,
  ): Promise<CheckedScore[]> {
    const previous = this.#previous;
    const judging = this.#tripped ? Promise.resolve(batch.map(notTried)) : scoreBatch(batch);
    const settled = Promise.all([judging, previous]).then(([judged]) =>
      judged.map((row) => this.#count(row)),
    );
    this.#previous = settled.catch(() => {});
    return settled;
  }

  get #tripped(): boolean {
    return this.#timeouts >= MAX_TIMEOUTS;
  }

  #count(row: CheckedScore): CheckedScore {
    if (this.#tripped) return notTried();
    if (row.reward === null && JSON.stringify(row) === this.#timeout) this.#timeouts++;
    return row;
  }
}
