/** Test whether the observed flips rule out an improvement of a given size. */

import { requireCount } from "./_checks.ts";
import { normalQuantile } from "./normal-quantile.ts";

/**
 * Tango's score test (1998) of "the paired difference is at least `margin`": with b gained, c lost
 * of n, T = (b - c - n d) / sqrt(n (2 q + d (1 - d))), where q is the constrained estimate of the
 * chance of a loss at difference d. It keeps its level where few pairs flip, unlike a bootstrap.
 */
export function marginRuledOut(
  gained: number,
  lost: number,
  n: number,
  margin: number,
  alpha: number,
): boolean {
  for (const [name, value] of Object.entries({ gained, lost, n })) requireCount(name, value);
  if (margin > 1) return n > 0;
  const a = 2 * n;
  const b = -gained - lost + (2 * n - gained + lost) * margin;
  const c = -lost * margin * (1 - margin);
  const q = (Math.sqrt(b * b - 4 * a * c) - b) / (2 * a);
  const spread = n * (2 * q + margin * (1 - margin));
  return (
    spread > 0 && (gained - lost - n * margin) / Math.sqrt(spread) <= -normalQuantile(1 - alpha / 2)
  );
}
