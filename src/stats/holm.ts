/** Holm's correction for several tests. */

import { requireShare } from "./_checks.ts";

/**
 * Adjusted p-values (Holm 1979), in the order given: the i-th smallest of m is multiplied by
 * m - i + 1 and is at least the one before it. Those at most alpha may all be called significant,
 * with a chance of at most alpha that any of them is not.
 */
export function holmAdjusted(pValues: readonly number[]): number[] {
  for (const p of pValues) requireShare("p", p);
  const order = pValues.map((_, i) => i).sort((a, b) => at(pValues, a) - at(pValues, b));
  const adjusted = new Array<number>(pValues.length);
  let largest = 0;
  order.forEach((index, rank) => {
    largest = Math.max(largest, (pValues.length - rank) * at(pValues, index));
    adjusted[index] = Math.min(1, largest);
  });
  return adjusted;
}

function at(values: readonly number[], index: number): number {
  return values[index] as number;
}
