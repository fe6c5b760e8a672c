/** rapidfuzz's `ratio` as a share: twice the longest common subsequence of characters. */

import { lcsLength } from "./lcs.ts";
import { requireSize } from "./limits.ts";
import { codePoints } from "./tokens.ts";

export function ratio(one: string, other: string): number {
  return ratioOf(codePoints(one), codePoints(other));
}

export function ratioOf(one: Int32Array, other: Int32Array): number {
  requireSize("fuzzy_match", "characters", one, other);
  const all = one.length + other.length;
  return all === 0 ? 1 : 1 - (all - 2 * lcsLength(one, other)) / all;
}
