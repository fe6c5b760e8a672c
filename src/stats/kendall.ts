/** Kendall's rank correlation. */

/**
 * Kendall's tau-b (1945): pairs in the same order less pairs in the opposite order, over the
 * geometric mean of the pairs that are no tie in each list. From -1 to 1; undefined where one of the
 * lists has a single value, because it orders nothing.
 * @example
 * ```ts
 * import { kendallTauB } from "lockedroom/stats";
 * console.log(kendallTauB([1, 2, 3, 4], [1, 3, 2, 4])); // 5 pairs agree, 1 does not: 0.667
 * ```
 */
export function kendallTauB(one: readonly number[], other: readonly number[]): number | undefined {
  if (one.length !== other.length)
    throw new RangeError(`lists of ${one.length} and ${other.length} values cannot be compared`);
  let [surplus, untiedInOne, untiedInOther] = [0, 0, 0];
  for (let i = 0; i < one.length; i++) {
    for (let j = 0; j < i; j++) {
      const a = Math.sign((one[i] as number) - (one[j] as number));
      const b = Math.sign((other[i] as number) - (other[j] as number));
      surplus += a * b;
      untiedInOne += a * a;
      untiedInOther += b * b;
    }
  }
  if (untiedInOne === 0 || untiedInOther === 0) return undefined;
  return surplus / Math.sqrt(untiedInOne * untiedInOther);
}
