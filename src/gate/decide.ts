/** The claim of an improvement: the decision that follows from what changed and what was measured. */

import type { Change, Knob } from "../core/knobs.ts";
import type { Decision, Reason } from "../runs/gate-report.ts";
import type { Measured } from "./measured.ts";
import { onlySeedChanged } from "./seeds.ts";
import { figuresOf, shownLevel, strength } from "./words.ts";

interface DecisionInput {
  readonly knobs: readonly Change[];
  readonly measured: Measured;
  readonly minDelta: number;
  readonly alpha: number;
  /** Below alpha where several seeds were tried. */
  readonly level?: number | undefined;
  readonly claim: Knob | undefined;
  /** Not empty where the seeds differ. */
  readonly seeds?: readonly Reason[] | undefined;
}

export interface Decided {
  readonly decision: Decision;
  readonly reasons: Reason[];
}

/** Tolerance for rounding: 0.7 - 0.6 must count as 0.1. */
const SLACK = 1e-12;

/** Promotes exactly one change, the claimed one, with a significant improvement. */
export function decide(input: DecisionInput): Decided {
  const { knobs, measured, minDelta, alpha, level = alpha, claim } = input;
  const several = confounded(knobs);
  if (several) return several;
  const mismatch = claimReason(knobs, claim);
  const otherSeed = onlySeed(input);
  if (mismatch.length > 0) return { decision: "REJECT", reasons: [...mismatch, ...otherSeed] };
  if (otherSeed.length > 0) return { decision: "INCONCLUSIVE", reasons: otherSeed };
  if (knobs.length === 0) {
    const message = "Nothing changed between the runs, so there is nothing to promote.";
    return decided("INCONCLUSIVE", "nothing_changed", message);
  }
  const { delta, ci, p_value: p, metric } = measured;
  if (delta === null || ci === null || p === null)
    return decided("INCONCLUSIVE", "nothing_scored", "No example was scored in both runs.");
  if (delta === 0 && minDelta === 0)
    return decided("INCONCLUSIVE", "no_difference", "The runs have the same rewards.");
  const figures = figuresOf(measured);
  if (p <= level && delta < 0)
    return decided(
      "REJECT",
      "worse",
      `The candidate's ${metric} is lower: ${figures}, ${strength(measured)}.`,
    );
  const isSmall = delta < minDelta - SLACK;
  if (minDelta > 0 && isSmall && measured.gainRuledOut(minDelta)) {
    const message = `An improvement of ${minDelta} or more is ruled out: ${figures}.`;
    return decided("REJECT", "below_min_delta", message);
  }
  if (p > level && p <= alpha) {
    const message = `The difference in ${metric} is significant at α = ${alpha}, but not at ${shownLevel(level)}, the level for the best of several seeds: ${figures}. Compare once, with one seed, on examples that the policies have not answered yet.`;
    return decided("INCONCLUSIVE", "several_seeds_tried", message);
  }
  if (p > level || ci.low <= 0) {
    const message = `The difference in ${metric} is not significant at α = ${level < alpha ? shownLevel(level) : alpha}: ${figures}.`;
    return decided("INCONCLUSIVE", "not_significant", message);
  }
  if (isSmall) {
    const message = `The candidate's ${metric} is higher, but by less than ${minDelta}: ${figures}.`;
    return decided("INCONCLUSIVE", "below_min_delta", message);
  }
  const message = `The candidate's ${metric} is higher: ${figures}, ${strength(measured)}.`;
  return decided("PROMOTE", "improvement", message);
}

/** Nothing but the seed differs; empty where something else does, or the seed does not. */
export function onlySeed({ knobs, seeds = [] }: Pick<DecisionInput, "knobs" | "seeds">): Reason[] {
  return knobs.length === 0 ? seeds.map(onlySeedChanged) : [];
}

/** Refuses a difference with more than one possible cause. */
function confounded(knobs: readonly Change[]): Decided | undefined {
  if (knobs.length <= 1) return undefined;
  const message = `More than one thing changed (${knobs.join(", ")}), so the difference has no single cause. Change one at a time.`;
  return decided("REJECT", "confounded", message);
}

/** A claim that the manifests contradict, or do not support. */
export function claimReason(knobs: readonly Change[], claim: Knob | undefined): Reason[] {
  if (claim === undefined || (knobs.length === 1 && knobs[0] === claim)) return [];
  if (claim === "policy" && knobs.length === 1 && knobs[0] === "unknown") {
    const message =
      "The claim is that the policy changed, but a run does not state its policy. Evaluate with --policy NAME, or with a provenance file beside the completions.";
    return decided("REJECT", "policy_not_stated", message).reasons;
  }
  const named = knobs.map((knob) => (knob === "unknown" ? "something that is not stated" : knob));
  const changed = knobs.length === 0 ? "nothing changed" : `${named.join(" and ")} changed`;
  const message = `The claim is that only the ${claim} changed, but ${changed}.`;
  return decided("REJECT", "claim_mismatch", message).reasons;
}

export function decided(decision: Decision, code: string, message: string): Decided {
  return { decision, reasons: [{ code, message, baseline: null, candidate: null }] };
}
