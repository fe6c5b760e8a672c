/** Wilson's score interval for a proportion. */

import { requireAtMost, requireCount, requireLevel } from "./_checks.ts";
import { normalQuantile } from "./normal-quantile.ts";

/**
 * The shares p that a score test would not reject (Wilson 1927): with z the two-sided normal
 * quantile, (s + z²/2 ± z sqrt(s (n - s) / n + z²/4)) / (n + z²). Undefined when nothing was seen.
 * @example
 * ```ts
 * import { wilsonInterval } from "lockedroom";
 * console.log(wilsonInterval(80, 100)); // 80 of 100 passed: about [0.711, 0.867]
 * ```
 */
export function wilsonInterval(
  successes: number,
  n: number,
  confidence = 0.95,
): [low: number, high: number] | undefined {
  requireCount("n", n);
  requireAtMost("successes", successes, n);
  requireLevel("confidence", confidence);
  if (n === 0) return undefined;
  const z = normalQuantile((1 + confidence) / 2);
  const centre = successes + (z * z) / 2;
  const half = z * Math.sqrt((successes * (n - successes)) / n + (z * z) / 4);
  const scale = n + z * z;
  // The formula gives 0 and 1 at the ends; rounding would not.
  return [
    successes === 0 ? 0 : (centre - half) / scale,
    successes === n ? 1 : (centre + half) / scale,
  ];
}
