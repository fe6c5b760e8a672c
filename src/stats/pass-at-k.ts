/** pass@k: the chance that at least one of k samples passes. */

import { requireAtMost, requireCount } from "./_checks.ts";

/**
 * The unbiased estimate 1 - C(n - c, k) / C(n, k) from n samples of which c passed (Chen et al.
 * 2021, "Evaluating Large Language Models Trained on Code"). Undefined when n < k.
 *
 * The product prod (n - c - j) / (n - j) is the chance that the first j draws all miss; adding up
 * the chances of a first hit at each j avoids the cancelling 1 - product, and makes k = 1 exactly
 * c / n.
 * @example
 * ```ts
 * import { passAtK } from "lockedroom";
 * console.log(passAtK(10, 3, 1)); // 3 of 10 samples passed: 0.3
 * ```
 */
export function passAtK(n: number, c: number, k: number): number | undefined {
  requireCount("n", n);
  requireAtMost("c", c, n);
  requireCount("k", k);
  if (k === 0) throw new RangeError("k must be at least 1");
  if (n < k) return undefined;
  if (n - c < k) return 1;
  let pass = 0;
  let allMissed = 1;
  for (let j = 0; j < k; j++) {
    pass += (allMissed * c) / (n - j);
    allMissed *= (n - c - j) / (n - j);
  }
  return Math.min(1, pass);
}
