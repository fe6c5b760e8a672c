/**
 * The claim of no regression: a loss as large as the margin is ruled out. PASS needs that and nothing
 * more, so a loss that is shown but smaller than the margin passes.
 */

import type { Change, Knob } from "../core/knobs.ts";
import { pairsForEffect, pairsForMargin, type Spread } from "../stats/power.ts";
import { claimReason, confounded, type Decided, decided } from "./decide.ts";
import type { Measured } from "./measured.ts";
import { figuresOf, shownLevel } from "./words.ts";

interface NoRegressionInput {
  readonly knobs: readonly Change[];
  /** The runs have the same answers. */
  readonly sameAnswers: boolean;
  /** At `level`. */
  readonly measured: Measured;
  readonly margin: number;
  /** Below alpha where several seeds were tried. */
  readonly level: number;
  readonly claim: Knob | undefined;
}

export function decideNoRegression(input: NoRegressionInput): Decided {
  const { knobs, measured, margin, level, claim } = input;
  const several = confounded(knobs);
  if (several) return several;
  const mismatch = claimReason(knobs, claim);
  if (mismatch.length > 0) return { decision: "REJECT", reasons: mismatch };
  if (knobs.length === 0 && input.sameAnswers)
    return decided("PASS", "nothing_changed", "The runs have the same answers: nothing was lost.");
  const { delta, p_value: p, metric } = measured;
  if (delta === null || p === null)
    return decided("INCONCLUSIVE", "nothing_scored", "No example was scored in both runs.");
  const figures = figuresOf(measured);
  const isWorse = p <= level && delta < 0;
  if (measured.lossRuledOut(margin)) {
    const but = isWorse ? `The candidate's ${metric} is lower, but by less than the margin. ` : "";
    const message = `${but}A loss of ${margin} or more in ${metric} is ruled out: ${figures}.`;
    return decided("PASS", "loss_ruled_out", message);
  }
  if (isWorse) return decided("REJECT", "worse", `The candidate's ${metric} is lower: ${figures}.`);
  const message = `A loss of ${margin} or more in ${metric} is neither ruled out nor shown at α = ${shownLevel(level)}: ${figures}.`;
  return decided("INCONCLUSIVE", "loss_not_ruled_out", message);
}

/** More pairs than this are not suggested. */
const MAX_PAIRS = 1e9;

interface DecidingSize {
  readonly measured: Measured;
  readonly margin: number;
  readonly alpha: number;
  /** Pairs, or clusters of them. */
  readonly n: number;
  /** Of one difference. */
  readonly variance: number;
  readonly spread: Spread;
}

/**
 * About how many examples would decide, with 80 % power and if they were like these: to rule the margin
 * out, or to show the loss, whichever takes fewer.
 */
export function decidingSize(question: DecidingSize): number | undefined {
  const { measured, margin, alpha, n, variance, spread } = question;
  const { delta } = measured;
  if (delta === null || n === 0) return undefined;
  const passing = pairsForMargin({ margin, delta, variance, alpha });
  const like = passing === undefined ? undefined : sizeLikeThese(measured, margin, n);
  const showing = delta < 0 ? pairsForEffect({ effect: -delta, alpha, ...spread }) : undefined;
  const sizes = [
    ...(passing !== undefined && like !== undefined ? [Math.max(passing, like)] : []),
    ...(showing !== undefined && showing > n ? [showing] : []),
  ];
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}

/** To within a hundredth, as rounding makes the answer of a single number a matter of luck. */
function sizeLikeThese(measured: Measured, margin: number, n: number): number | undefined {
  for (let size = n; size <= MAX_PAIRS; size = Math.ceil(size * 1.01))
    if (measured.lossRuledOut(margin, size)) return size;
  return undefined;
}
