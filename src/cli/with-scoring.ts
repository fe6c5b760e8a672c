/** Opens a scorer and a progress bar around a loop, and always closes both. */

import type { GuardedScorer } from "../core/score.ts";
import { withScorer } from "../scorers/open.ts";
import { startProgress, totalBytes } from "./progress.ts";
import { scorerHere } from "./workspace.ts";

export interface ScoringFlags {
  readonly scorer?: string;
  readonly jobs: number;
  readonly concurrency: number;
  readonly scorerTimeout: number;
  readonly quiet?: boolean;
}

/** `files` are the inputs, for the progress bar; `label` is its label. */
export async function withScoring<T>(
  { scorer: given, jobs, concurrency, scorerTimeout: timeoutMs, quiet }: ScoringFlags,
  label: string,
  files: readonly string[],
  work: (scorer: GuardedScorer, onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  return withScorer(await scorerHere(given), { jobs, concurrency, timeoutMs }, async (scorer) => {
    const progress = startProgress(label, totalBytes(...files), quiet);
    try {
      return await work(scorer, progress.add);
    } finally {
      progress.stop();
    }
  });
}
