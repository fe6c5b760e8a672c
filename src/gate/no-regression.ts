/**
 * The claim of no regression: a loss as large as the margin is ruled out. PASS needs that and nothing
 * more, so a loss that is shown but smaller than the margin passes. Several things may have changed, as
 * long as examples and scorer are the same: they are named, and no cause is claimed.
 */

import type { Change, Knob } from "../core/knobs.ts";
import type { Reason } from "../runs/gate-report.ts";
import { claimReason, type Decided, decided, onlySeed } from "./decide.ts";
import type { Measured } from "./measured.ts";
import { differenceOf, figuresOf, oneSided, pText, shownLevel } from "./words.ts";

interface NoRegressionInput {
  readonly knobs: readonly Change[];
  /** What differs, by name; knobs and their parts. */
  readonly changed: readonly string[];
  /** Nothing changed, and the answers are the same. */
  readonly unchanged: boolean;
  /** At `level`. */
  readonly measured: Measured;
  readonly margin: number;
  /** Below alpha where several seeds were tried. */
  readonly level: number;
  /** The one knob that may have changed; undefined where any may. */
  readonly claim: Knob | undefined;
  /** Not empty where the seeds differ. */
  readonly seeds?: readonly Reason[] | undefined;
}

export function decideNoRegression(input: NoRegressionInput): Decided {
  const { knobs, measured, margin, level, claim } = input;
  const mismatch = claimReason(knobs, claim);
  const otherSeed = onlySeed(input);
  if (mismatch.length > 0) return { decision: "REJECT", reasons: [...mismatch, ...otherSeed] };
  if (input.unchanged)
    return decided("PASS", "nothing_changed", "The runs have the same answers: nothing was lost.");
  if (otherSeed.length > 0) return { decision: "INCONCLUSIVE", reasons: otherSeed };
  const { delta, p_value: p, metric } = measured;
  if (delta === null || p === null)
    return decided("INCONCLUSIVE", "nothing_scored", "No example was scored in both runs.");
  const difference = `the difference is ${differenceOf(measured)}`;
  const byTest = oneSided(measured.lossPValue(margin));
  const isWorse = p <= level && delta < 0;
  if (measured.lossRuledOut(margin)) {
    const but = isWorse ? `The candidate's ${metric} is lower, but by less than the margin. ` : "";
    const message = `${but}A loss of ${margin} or more in ${metric} is ruled out (${byTest}): ${difference}.${together(input.changed)}`;
    return decided("PASS", "loss_ruled_out", message);
  }
  if (isWorse) {
    const message = `The candidate's ${metric} is lower: ${figuresOf(measured)}.${together(input.changed)}`;
    return decided("REJECT", "worse", message);
  }
  if (measured.range === undefined)
    return decided("INCONCLUSIVE", "reward_range_unknown", RANGE_UNKNOWN);
  const message = `A loss of ${margin} or more in ${metric} is not ruled out (${byTest}), and no loss is shown (${pText(p)}), at α = ${shownLevel(level)}: ${difference}.`;
  return decided("INCONCLUSIVE", "loss_not_ruled_out", message);
}

const RANGE_UNKNOWN =
  "The rewards are not all 0 or 1, and the scorer does not declare their range, so a rare loss could have any size and no loss can be ruled out. Declare `range: [0, 1]` (the lowest and the highest reward) in the scorer and evaluate both again, or state it with --reward-range 0,1.";

function together(changed: readonly string[]): string {
  if (changed.length < 2) return "";
  return ` This holds for all changes together (${changed.join(", ")}), not for each.`;
}
