/**
 * The promotion gate. Reads two run folders and nothing else, and answers three questions in
 * order: may they be compared, which one knob was turned, is the difference real?
 */

import { usageError } from "../core/errors.ts";
import type { Knob } from "../core/knobs.ts";
import { type Decision, GATE_SCHEMA, type GateReport } from "../runs/gate-report.ts";
import { openRun } from "../runs/reader.ts";
import { pairsForEffect } from "../stats/power.ts";
import { compareManifests } from "./comparability.ts";
import { claimReason, decide } from "./decide.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { type Measured, measure, UNMEASURED } from "./measure.ts";

/**
 * What `gate` is given.
 *
 * @see {@link gate}
 */
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

/**
 * Exit codes of the gate; 64, 65, 70 and 74 belong to the command line.
 *
 * @example
 * ```ts
 * import { GATE_EXIT, gate } from "lockedroom";
 *
 * const { exit_code } = await gate({ baseline: "runs/baseline", candidate: "runs/candidate" });
 * if (exit_code === GATE_EXIT.PROMOTE) console.log("The candidate may replace the baseline.");
 * ```
 */
export const GATE_EXIT = { PROMOTE: 0, REJECT: 1, INCONCLUSIVE: 2, NOT_COMPARABLE: 3 } as const;

/** The noise rule of the mastery track: small changes on small data are suspicious. */
const NOISE = { examples: 1000, delta: 0.05 };

/**
 * Judges whether the candidate run may replace the baseline. Reads the two folders and nothing
 * else.
 *
 * @example
 * ```ts
 * import { gate } from "lockedroom";
 *
 * const { decision, reasons } = await gate({
 *   baseline: "runs/baseline",
 *   candidate: "runs/candidate",
 *   claim: "policy",
 * });
 * console.log(decision, reasons.map(({ code }) => code));
 * ```
 */
export async function gate(options: GateOptions): Promise<GateReport> {
  const { minDelta = 0, alpha = 0.05, claim } = options;
  if (!(minDelta >= 0 && minDelta < Number.POSITIVE_INFINITY))
    throw usageError("--min-delta must be 0 or more");
  if (!(alpha > 0 && alpha < 1)) throw usageError("--alpha must be between 0 and 1");
  const [baseline, candidate] = [await openRun(options.baseline), await openRun(options.candidate)];
  const room = compareManifests(baseline.manifest, candidate.manifest);
  const evidence = await gatherEvidence(baseline, candidate);
  // Scorers that are known to differ may well disagree; that is no reason of its own.
  const declared = room.knobs.includes("measurement");
  const violations = [...room.violations, ...evidence.violations].filter(
    ({ code }) => !(declared && code === "instrument_inconsistent"),
  );
  const comparable = violations.length === 0;
  const measured = comparable ? measure(evidence, alpha) : UNMEASURED;
  const { ruledOut: _, ...figures } = measured;
  const { decision, reasons } = comparable
    ? decide({ knobs: room.knobs, measured, minDelta, alpha, claim })
    : { decision: "REJECT" as const, reasons: [...violations, ...claimReason(room.knobs, claim)] };
  return {
    schema: GATE_SCHEMA,
    decision,
    exit_code: comparable ? GATE_EXIT[decision] : GATE_EXIT.NOT_COMPARABLE,
    comparable,
    knobs: room.knobs,
    claim: claim ?? null,
    reasons,
    notes: [
      ...room.notes,
      ...selectionNote(room.knobs, candidate.manifest.selection?.rule),
      ...noiseNote(measured, evidence),
      ...fewFlipsNote(evidence, comparable),
      ...sizeNote(decision, measured, evidence, alpha),
    ],
    baseline: evidence.baseline,
    candidate: evidence.candidate,
    ...figures,
    flips: comparable ? evidence.flips : null,
    min_delta: minDelta,
    alpha,
  };
}

/** The mistake this project exists for deserves a sentence of its own. */
function selectionNote(knobs: readonly Knob[], rule: unknown): string[] {
  if (knobs.length !== 1 || knobs[0] !== "selection") return [];
  const words =
    "Selection compute changed: outputs were picked differently, the policy's distribution is unchanged.";
  if (rule !== "best" && rule !== "tieBreakKey") return [words];
  return [
    words,
    "The best by the scorer that also measures cannot lose: the gain is an upper bound.",
  ];
}

/** How many examples would have been enough, by the same arithmetic that gives the effect needed. */
function sizeNote(
  decision: Decision,
  { delta }: Measured,
  { differences, binary }: Evidence,
  alpha: number,
): string[] {
  if (decision !== "INCONCLUSIVE" || !delta) return [];
  const n = differences.pairs;
  const spread = binary
    ? { discordantShare: 1 - differences.count(0) / n }
    : { variance: differences.variance() ?? 0 };
  const enough = pairsForEffect({ effect: Math.abs(delta), alpha, ...spread });
  if (enough === undefined || enough <= n) return [];
  const assumed = binary ? "rows flip as often as here" : "rewards differ as much as here";
  return [
    `To see a difference of this size in 4 runs of 5, use about ${enough} examples, if ${assumed}.`,
  ];
}

/** A resampled interval knows only the flips it has seen. */
function fewFlipsNote({ binary, flips }: Evidence, comparable: boolean): string[] {
  if (!comparable || !binary || flips.gained + flips.lost >= 10) return [];
  return ["Few rows flipped, so the interval is narrower than the truth; the exact test decides."];
}

function noiseNote({ delta }: Measured, { differences }: Evidence): string[] {
  const n = differences.pairs;
  if (delta === null || delta === 0 || n >= NOISE.examples || Math.abs(delta) >= NOISE.delta)
    return [];
  return [
    `Noise rule: on ${n} examples a change under 5 % is suspicious until it has been repeated.`,
  ];
}
