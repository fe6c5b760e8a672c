/**
 * The promotion gate. Reads two run folders and nothing else, and answers three questions in
 * order: may they be compared, which one knob was turned, is the difference real?
 */

import { usageError } from "../core/errors.ts";
import type { Knob } from "../core/knobs.ts";
import { type Decision, GATE_SCHEMA, type GateReport, type Reason } from "../runs/gate-report.ts";
import { openRun } from "../runs/reader.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { pairedBootstrap, signFlipTest } from "../stats/paired.ts";
import { minimumDetectableEffect } from "../stats/power.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { inspectRoom, type Room } from "./locked-room.ts";

export interface GateOptions {
  readonly baseline: string;
  readonly candidate: string;
  /** The smallest improvement worth having. */
  readonly minDelta?: number | undefined;
  /** The chance of promoting a change that is none. */
  readonly alpha?: number | undefined;
  /** The knob that somebody says was turned. */
  readonly claim?: Knob | undefined;
}

/** Documented in the README; 64, 65, 70 and 74 belong to the command line. */
export const GATE_EXIT = { PROMOTE: 0, REJECT: 1, INCONCLUSIVE: 2, NOT_COMPARABLE: 3 } as const;

/** Resampling is part of the instrument, so its seed is fixed. */
const SEED = "lockedroom.gate@1";
/** The noise rule of the mastery track: small changes on small data are suspicious. */
const NOISE = { examples: 1000, delta: 0.05 };

/** Judges whether the candidate run may replace the baseline. Reads the two folders and nothing else. */
export async function gate(options: GateOptions): Promise<GateReport> {
  const { minDelta = 0, alpha = 0.05, claim } = options;
  if (!(minDelta >= 0 && minDelta < Number.POSITIVE_INFINITY))
    throw usageError("--min-delta must be 0 or more");
  if (!(alpha > 0 && alpha < 1)) throw usageError("--alpha must be between 0 and 1");
  const [baseline, candidate] = [await openRun(options.baseline), await openRun(options.candidate)];
  const room = inspectRoom(baseline.manifest, candidate.manifest);
  const evidence = await gatherEvidence(baseline, candidate);
  // Scorers that are known to differ may well disagree; that is no reason of its own.
  const declared = room.knobs.includes("measurement");
  const violations = [...room.violations, ...evidence.violations].filter(
    ({ code }) => !(declared && code === "instrument_inconsistent"),
  );
  const comparable = violations.length === 0;
  const measured = comparable ? measure(evidence, alpha) : UNMEASURED;
  const { decision, reasons } = comparable
    ? decide({ room, measured, minDelta, alpha, claim })
    : { decision: "REJECT" as const, reasons: [...violations, ...claimReason(room.knobs, claim)] };
  return {
    schema: GATE_SCHEMA,
    decision,
    exit_code: comparable ? GATE_EXIT[decision] : GATE_EXIT.NOT_COMPARABLE,
    comparable,
    knobs: room.knobs,
    claim: claim ?? null,
    reasons,
    notes: [...room.notes, ...selectionNote(room.knobs), ...noiseNote(measured, evidence)],
    baseline: evidence.baseline,
    candidate: evidence.candidate,
    ...measured,
    flips: comparable ? evidence.flips : null,
    min_delta: minDelta,
    alpha,
  };
}

type Measured = Pick<GateReport, "delta" | "ci" | "p_value" | "test" | "minimum_detectable_effect">;
const UNMEASURED: Measured = {
  delta: null,
  ci: null,
  p_value: null,
  test: null,
  minimum_detectable_effect: null,
};

function measure({ differences, binary, flips }: Evidence, alpha: number): Measured {
  const n = differences.pairs;
  const confidence = 1 - alpha;
  const interval = pairedBootstrap(differences, { seed: SEED, confidence });
  const spread = binary
    ? { discordantShare: n === 0 ? 0 : (flips.gained + flips.lost) / n }
    : { variance: differences.variance() ?? 0 };
  return {
    delta: differences.mean() ?? null,
    ci: interval ? { low: interval.low, high: interval.high, confidence } : null,
    p_value: binary
      ? mcnemarExact(flips.gained, flips.lost)
      : signFlipTest(differences, { seed: SEED }).p,
    test: binary ? "mcnemar_exact" : "sign_flip",
    minimum_detectable_effect: minimumDetectableEffect({ n, alpha, ...spread }) ?? null,
  };
}

interface Case {
  readonly room: Room;
  readonly measured: Measured;
  readonly minDelta: number;
  readonly alpha: number;
  readonly claim: Knob | undefined;
}

function decide({ room, measured, minDelta, alpha, claim }: Case): {
  decision: Decision;
  reasons: Reason[];
} {
  const { knobs } = room;
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
  const figures = `${signed(delta)} with interval ${signed(ci.low)} to ${signed(ci.high)}, p = ${p.toPrecision(2)}`;
  if (p <= alpha && ci.high < 0) return rejected("worse", `The candidate is worse: ${figures}.`);
  if (ci.high < minDelta) {
    return rejected("below_min_delta", `An improvement of ${minDelta} is ruled out: ${figures}.`);
  }
  if (p > alpha || ci.low <= 0) {
    return inconclusive(
      "not_significant",
      `The difference could be luck: ${figures}, level ${alpha}.`,
    );
  }
  if (delta < minDelta) {
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

function claimReason(knobs: readonly Knob[], claim: Knob | undefined): Reason[] {
  if (claim === undefined || (knobs.length === 1 && knobs[0] === claim)) return [];
  const turned =
    knobs.length === 0 ? "no knob was turned" : `what was turned is ${knobs.join(" and ")}`;
  return [reason("claim_mismatch", `The claim is a change of ${claim}, but ${turned}.`)];
}

/** The mistake this project exists for deserves a sentence of its own. */
function selectionNote(knobs: readonly Knob[]): string[] {
  if (knobs.length !== 1 || knobs[0] !== "selection") return [];
  return [
    "Selection compute changed: outputs were picked differently, the policy's distribution is unchanged.",
  ];
}

function noiseNote({ delta }: Measured, { differences }: Evidence): string[] {
  const n = differences.pairs;
  if (delta === null || delta === 0 || n >= NOISE.examples || Math.abs(delta) >= NOISE.delta)
    return [];
  return [
    `Noise rule: on ${n} examples a change under 5 % is suspicious until it has been repeated.`,
  ];
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
