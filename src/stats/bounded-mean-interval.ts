/** The interval of a mean of values on a known range, for any distribution and any number of them. */

import { requireLevel } from "./_checks.ts";
import { meanLossPValue } from "./bounded-mean.ts";

/**
 * The means that no bet rules out (see bounded-mean.ts), to within a hundred-thousandth of the range.
 * Unlike a normal interval it has a width where all values are the same. Undefined without values.
 */
export function boundedMeanInterval(
  values: readonly number[],
  [lowest, highest]: readonly [number, number],
  confidence = 0.95,
): [low: number, high: number] | undefined {
  requireLevel("confidence", confidence);
  const outside = values.find((value) => !(value >= lowest && value <= highest));
  if (outside !== undefined)
    throw new RangeError(`values must lie between ${lowest} and ${highest}, found ${outside}`);
  if (values.length === 0) return undefined;
  const low = lowEnd(values, lowest, highest, 1 - confidence);
  const mirrored = values.map((value) => lowest + highest - value);
  return [low, lowest + highest - lowEnd(mirrored, lowest, highest, 1 - confidence)];
}

/** The largest value such that a mean of it or less is ruled out. */
function lowEnd(values: readonly number[], lowest: number, highest: number, alpha: number): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ruledOut = (mean: number) => {
    const units = [...counts].map(([value, count]) => ({ change: value - mean, weight: 1, count }));
    // A bet may lose no more than all: only the largest fall below the mean limits it.
    return meanLossPValue({ units, range: mean - lowest, margin: 0 }) <= alpha;
  };
  let [low, high] = [lowest, highest];
  while (high - low > 1e-5 * (highest - lowest)) {
    const middle = (low + high) / 2;
    if (ruledOut(middle)) low = middle;
    else high = middle;
  }
  return low;
}
