/** From numbers to a verdict: exactly one knob, the claim, and a difference that is not luck. */

import type { Knob } from "../core/knobs.ts";
import type { Decision, Reason } from "../runs/gate-report.ts";
import type { Measured } from "./measure.ts";

export interface Case {
  readonly knobs: readonly Knob[];
  readonly measured: Measured;
  readonly minDelta: number;
  readonly alpha: number;
  readonly claim: Knob | undefined;
}

/** Differences of decimals carry rounding, and 0.7 - 0.6 must still be 0.1. */
const SLACK = 1e-12;

export function decide({ knobs, measured, minDelta, alpha, claim }: Case): {
  decision: Decision;
  reasons: Reason[];
} {
  if (knobs.length > 1) {
    return rejected(
      "confounded",
      `More than one knob was turned (${knobs.join(", ")}); no cause can be named.`,
    );
  }
  const mismatch = claimReason(knobs, claim);
  if (mismatch.length > 0) return { decision: "REJECT", reasons: mismatch };
  if (knobs.length === 0) {
    return inconclusive(
      "no_knob_turned",
      "Nothing was changed between the runs, so there is nothing to promote.",
    );
  }
  const { delta, ci, p_value: p } = measured;
  if (delta === null || ci === null || p === null)
    return inconclusive("nothing_judged", "No pair of rows was judged.");
  if (delta === 0 && minDelta === 0)
    return inconclusive("no_difference", "No difference was measured.");
  const figures = `${signed(delta)} with interval ${signed(ci.low)} to ${signed(ci.high)}, p = ${p.toPrecision(2)}`;
  if (p <= alpha && delta < 0) return rejected("worse", `The candidate is worse: ${figures}.`);
  if (minDelta > 0 && delta < minDelta - SLACK && measured.ruledOut(minDelta)) {
    return rejected("below_min_delta", `An improvement of ${minDelta} is ruled out: ${figures}.`);
  }
  if (p > alpha || ci.low <= 0) {
    return inconclusive(
      "not_significant",
      `The difference could be luck: ${figures}, level ${alpha}.`,
    );
  }
  if (delta < minDelta - SLACK) {
    return inconclusive(
      "below_min_delta",
      `A real improvement, but smaller than ${minDelta} as measured: ${figures}.`,
    );
  }
  return {
    decision: "PROMOTE",
    reasons: [reason("improvement", `The improvement is real: ${figures}.`)],
  };
}

/** A claim that is not what the manifests say. */
export function claimReason(knobs: readonly Knob[], claim: Knob | undefined): Reason[] {
  if (claim === undefined || (knobs.length === 1 && knobs[0] === claim)) return [];
  const turned =
    knobs.length === 0 ? "no knob was turned" : `what was turned is ${knobs.join(" and ")}`;
  return [reason("claim_mismatch", `The claim is a change of ${claim}, but ${turned}.`)];
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

function signed(value: number): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(4)}`;
}
