/** How many examples would decide what these do not. */

import type { Decision } from "../runs/gate-report.ts";
import { MAX_PAIRS, pairsForEffect, pairsForMargin } from "../stats/power.ts";
import type { Measured } from "./measured.ts";

/** The sample size for the measured effect, by the formula that gives the minimum detectable effect. */
export function sizeNote(
  decision: Decision,
  measured: Measured,
  alpha: number,
  margin: number | undefined,
): string[] {
  const { delta, n, spread } = measured;
  if (decision !== "INCONCLUSIVE" || delta === null) return [];
  const enough =
    margin === undefined
      ? delta !== 0 && pairsForEffect({ effect: Math.abs(delta), alpha, ...spread })
      : decidingSize(measured, { margin, alpha });
  if (!enough || enough <= n) return [];
  const units = measured.test === "cluster_sign_flip" ? "different prompts" : "examples";
  const assumed =
    spread.variance === undefined ? "the same share of rows flips" : "rewards vary as much as here";
  const aim = margin === undefined ? "detect this difference" : "decide";
  return [`To ${aim} with 80 % power, use about ${enough} ${units} (if ${assumed}).`];
}

interface Deciding {
  readonly margin: number;
  readonly alpha: number;
  /** The level at which a loss is shown; below alpha where several slices are tested. */
  readonly showingLevel?: number;
}

/**
 * About how many examples would decide, with 80 % power and if they were like these: to rule the margin
 * out, or to show the loss, whichever takes fewer.
 */
export function decidingSize(
  measured: Measured,
  { margin, alpha, showingLevel = alpha }: Deciding,
): number | undefined {
  const { delta, n, spread, variance } = measured;
  if (delta === null || n === 0) return undefined;
  const passing = pairsForMargin({ margin, delta, variance, alpha });
  const like = passing === undefined ? undefined : sizeLikeThese(measured, margin);
  const showing =
    delta < 0 ? pairsForEffect({ effect: -delta, alpha: showingLevel, ...spread }) : undefined;
  const sizes = [
    ...(passing !== undefined && like !== undefined ? [Math.max(passing, like)] : []),
    ...(showing !== undefined && showing > n ? [showing] : []),
  ];
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}

/** To within a hundredth: a single number may be undecided because a count of flips was rounded. */
function sizeLikeThese(measured: Measured, margin: number): number | undefined {
  for (let size = measured.n; size <= MAX_PAIRS; size = Math.ceil(size * 1.01))
    if (measured.lossRuledOut(margin, size)) return size;
  return undefined;
}
