/** Repetition within a completion: how much of it was already there. */

import type { TokenRow } from "../../core/token-row.ts";

/** Tokens of an n-gram; shorter ones repeat in ordinary text. */
const N = 4;

/**
 * The share of the n-grams of the policy's own tokens that occurred before in the same completion; 0
 * where there are none. "abababab" has 3 repeated ones of 5.
 */
export function repetitionOf({ tokens, actions }: Pick<TokenRow, "tokens" | "actions">): number {
  let [all, repeated] = [0, 0];
  for (const [from, to] of actions) {
    const seen = new Set<string>();
    for (let i = from; i + N <= to; i++) {
      const gram = tokens.slice(i, i + N).join();
      if (seen.has(gram)) repeated++;
      seen.add(gram);
      all++;
    }
  }
  return all === 0 ? 0 : repeated / all;
}
