/**
 * A custom tie-break: `selection-demo --policy examples/selection-policy.ts`. The highest reward wins;
 * among equal rewards the smallest key, compared element by element.
 */

interface Sample {
  readonly completion: string;
  readonly sum_logprob: number | null;
}

export function tieBreakKey({ completion, sum_logprob: logprob }: Sample) {
  return [logprob === null ? 1 : 0, -(logprob ?? 0), completion.length, completion];
}
