/** How many examples would decide what these do not. */

import type { Decision } from "../runs/gate-report.ts";
import type { Measured } from "./measured.ts";
import { isClustered } from "./words.ts";

/** The sample size for what was measured, by the power of the test that decides. */
export function sizeNote(
  decision: Decision,
  measured: Measured,
  alpha: number,
  margin: number | undefined,
): string[] {
  const { delta, n, test } = measured;
  if (decision !== "INCONCLUSIVE" || delta === null) return [];
  const enough =
    margin === undefined
      ? delta !== 0 && measured.sizeToShow(alpha)
      : decidingSize(measured, { margin, alpha });
  if (!enough || enough <= n) return [];
  const units = isClustered(test) ? "different prompts" : "examples";
  const assumed =
    test === "mcnemar_exact" ? "the same share of rows flips" : "rewards vary as much as here";
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
  const { delta, n } = measured;
  if (delta === null || n === 0) return undefined;
  const passing = measured.sizeToRuleOut(margin);
  const showing = delta < 0 ? measured.sizeToShow(showingLevel) : undefined;
  const sizes = [passing, showing].filter((size) => size !== undefined && size > n) as number[];
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}
