/** Ways to break a training run on purpose, so that one can see the alarms catch them. */

import type { SABOTAGES } from "./settings.ts";

export type Sabotage = (typeof SABOTAGES)[number] | null;

/** A step up where a step down belongs. What is written down is the rate that was meant. */
export function rateSign(sabotage: Sabotage): number {
  return sabotage === "inverted_rate" ? -1 : 1;
}

/** The log-prob of the token before in the place of each. */
export function shiftedByOne(logprobs: readonly number[]): number[] {
  return logprobs.map((_, t) => logprobs[t - 1] ?? logprobs.at(-1) ?? 0);
}

/** Few of the likeliest tokens, as if they were all. */
export function truncated(sabotage: Sabotage): { top_k?: number } {
  return sabotage === "truncated_sampling" ? { top_k: 3 } : {};
}
