/** Opens a scorer and a progress bar around a loop, and always closes both. */

import type { GuardedScorer } from "../core/score.ts";
import { openScorer } from "../scorers/open.ts";
import { startProgress, totalBytes } from "./progress.ts";
import { scorerHere } from "./workspace.ts";

export interface ScoringFlags {
  readonly scorer?: string;
  readonly jobs: number;
  readonly scorerTimeout: number;
  readonly quiet?: boolean;
}

/** `files` are the inputs, for the progress bar; `label` is its label. */
export async function withScoring<T>(
  { scorer, jobs, scorerTimeout, quiet }: ScoringFlags,
  label: string,
  files: readonly string[],
  work: (scoring: GuardedScorer, onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const scoring = await openScorer(await scorerHere(scorer), { jobs, timeoutMs: scorerTimeout });
  const progress = startProgress(label, totalBytes(...files), quiet);
  try {
    return await work(scoring, progress.add);
  } finally {
    progress.stop();
    await scoring.close();
  }
}
