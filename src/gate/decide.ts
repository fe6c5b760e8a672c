/** From measurements to a decision: exactly one change, the claimed one, and a significant difference. */

import type { Knob } from "../core/knobs.ts";
import type { Decision, Reason } from "../runs/gate-report.ts";
import type { Measured } from "./measure.ts";
import { signed } from "./render.ts";

export interface DecisionInput {
  readonly knobs: readonly Knob[];
  readonly measured: Measured;
  readonly minDelta: number;
  readonly alpha: number;
  readonly claim: Knob | undefined;
}

/** Tolerance for rounding: 0.7 - 0.6 must count as 0.1. */
const SLACK = 1e-12;

export function decide({ knobs, measured, minDelta, alpha, claim }: DecisionInput): {
  decision: Decision;
  reasons: Reason[];
} {
  if (knobs.length > 1) {
    return rejected(
      "confounded",
      `More than one thing changed (${knobs.join(", ")}), so the difference has no single cause. Change one at a time.`,
    );
  }
  const mismatch = claimReason(knobs, claim);
  if (mismatch.length > 0) return { decision: "REJECT", reasons: mismatch };
  if (knobs.length === 0) {
    return inconclusive(
      "nothing_changed",
      "Nothing changed between the runs, so there is nothing to promote.",
    );
  }
  const { delta, ci, p_value: p } = measured;
  if (delta === null || ci === null || p === null)
    return inconclusive("nothing_scored", "No example was scored in both runs.");
  if (delta === 0 && minDelta === 0)
    return inconclusive("no_difference", "The runs have the same rewards.");
  const metric = measured.test === "sign_flip" ? "mean reward" : "pass rate";
  const percent = Number((100 * ci.confidence).toFixed(2));
  const figures = `${signed(delta)} (${percent} % interval ${signed(ci.low)} to ${signed(ci.high)}, p = ${p.toPrecision(2)})`;
  if (p <= alpha && delta < 0)
    return rejected("worse", `The candidate's ${metric} is lower: ${figures}.`);
  if (minDelta > 0 && delta < minDelta - SLACK && measured.ruledOut(minDelta)) {
    return rejected(
      "below_min_delta",
      `An improvement of ${minDelta} or more is ruled out: ${figures}.`,
    );
  }
  if (p > alpha || ci.low <= 0) {
    return inconclusive(
      "not_significant",
      `The difference in ${metric} is not significant at α = ${alpha}: ${figures}.`,
    );
  }
  if (delta < minDelta - SLACK) {
    return inconclusive(
      "below_min_delta",
      `The candidate's ${metric} is higher, but by less than ${minDelta}: ${figures}.`,
    );
  }
  return {
    decision: "PROMOTE",
    reasons: [reason("improvement", `The candidate's ${metric} is higher: ${figures}.`)],
  };
}

/** A claim that the manifests contradict. */
export function claimReason(knobs: readonly Knob[], claim: Knob | undefined): Reason[] {
  if (claim === undefined || (knobs.length === 1 && knobs[0] === claim)) return [];
  const changed = knobs.length === 0 ? "nothing changed" : `${knobs.join(" and ")} changed`;
  return [reason("claim_mismatch", `The claim is that only the ${claim} changed, but ${changed}.`)];
}

const rejected = (code: string, message: string) => ({
  decision: "REJECT" as const,
  reasons: [reason(code, message)],
});
const inconclusive = (code: string, message: string) => ({
  decision: "INCONCLUSIVE" as const,
  reasons: [reason(code, message)],
});

function reason(code: string, message: string): Reason {
  return { code, message, baseline: null, candidate: null };
}
