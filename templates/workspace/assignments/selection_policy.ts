/**
 * Level 0.5: how selection breaks ties. The highest reward wins; among samples with the same reward
 * the one with the smallest key wins, compared element by element.
 */

export interface Sample {
  readonly index: number;
  readonly completion: string;
  /** Log-probability of the whole completion; null where it was not recorded. */
  readonly sum_logprob: number | null;
  readonly reward: number | null;
}

/** The shipped rule: the first sample wins. */
export function tieBreakKey(sample: Sample): (number | string)[] {
  return [sample.index];
}
