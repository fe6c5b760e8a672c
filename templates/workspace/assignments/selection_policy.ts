/**
 * Level 0.5: how selection breaks ties. Rewards come first and are not yours to change; among samples
 * with the same reward the one with the smallest key wins, compared member by member.
 */

export interface Sample {
  readonly index: number;
  readonly completion: string;
  /** Log-probability of the whole completion; null where nobody recorded it. */
  readonly sum_logprob: number | null;
  readonly reward: number | null;
}

/** A first, crude rule: whichever was sampled first. */
export function tieBreakKey(sample: Sample): (number | string)[] {
  return [sample.index];
}
