/**
 * A tie-break of one's own: `selection-demo --policy examples/selection-policy.ts`. Rewards come
 * first; among equal rewards the smallest key wins, compared member by member.
 */

interface Sample {
  readonly completion: string;
  readonly sum_logprob: number | null;
}

export function tieBreakKey({ completion, sum_logprob: logprob }: Sample) {
  return [logprob === null ? 1 : 0, -(logprob ?? 0), completion.length, completion];
}
