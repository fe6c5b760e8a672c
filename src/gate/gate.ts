/**
 * The promotion gate. Reads two run folders and nothing else, and answers three questions in
 * order: are the runs comparable, which one thing changed, is the difference significant?
 */

import { usageError } from "../core/errors.ts";
import type { Knob } from "../core/knobs.ts";
import { type Decision, GATE_SCHEMA, type GateReport } from "../runs/gate-report.ts";
import { openRun } from "../runs/reader.ts";
import { pairsForEffect } from "../stats/power.ts";
import { compareManifests } from "./comparability.ts";
import { claimReason, decide, type Measured, measure, UNMEASURED } from "./decide.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";

/** What `gate` is given. @see {@link gate} */
export interface GateOptions {
  readonly baseline: string;
  readonly candidate: string;
  /** The smallest improvement worth having. */
  readonly minDelta?: number | undefined;
  /** Significance level: the probability of promoting a candidate that is no better. */
  readonly alpha?: number | undefined;
  /** What the caller says has changed; anything else is rejected. */
  readonly claim?: Knob | undefined;
}

/**
 * Exit codes of the gate; 64, 65, 70 and 74 belong to the command line.
 * @example
 * ```ts
 * import { GATE_EXIT, gate } from "lockedroom";
 * const { exit_code } = await gate({ baseline: "runs/baseline", candidate: "runs/candidate" });
 * if (exit_code === GATE_EXIT.PROMOTE) console.log("The candidate may replace the baseline.");
 * ```
 */
export const GATE_EXIT = { PROMOTE: 0, REJECT: 1, INCONCLUSIVE: 2, NOT_COMPARABLE: 3 } as const;

/** The noise rule of the mastery track: small changes on small data sets need a replication. */
const NOISE = { examples: 1000, delta: 0.05 };

/**
 * Decides whether the candidate run may replace the baseline. Reads the two folders and nothing
 * else.
 * @example
 * ```ts
 * import { gate } from "lockedroom";
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
  const comparability = compareManifests(baseline.manifest, candidate.manifest);
  const evidence = await gatherEvidence(baseline, candidate);
  // Scorers that are known to differ may give different scores; that is not a reason of its own.
  const declared = comparability.knobs.includes("measurement");
  const violations = [...comparability.violations, ...evidence.violations].filter(
    ({ code }) => !(declared && code === "instrument_inconsistent"),
  );
  const comparable = violations.length === 0;
  const measured = comparable ? measure(evidence, alpha) : UNMEASURED;
  const { ruledOut: _, ...figures } = measured;
  const { decision, reasons } = comparable
    ? decide({ knobs: comparability.knobs, measured, minDelta, alpha, claim })
    : {
        decision: "REJECT" as const,
        reasons: [...violations, ...claimReason(comparability.knobs, claim)],
      };
  return {
    schema: GATE_SCHEMA,
    decision,
    exit_code: comparable ? GATE_EXIT[decision] : GATE_EXIT.NOT_COMPARABLE,
    comparable,
    knobs: comparability.knobs,
    claim: claim ?? null,
    reasons,
    notes: [
      ...comparability.notes,
      ...selectionNote(comparability.knobs, candidate.manifest.selection?.rule),
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

/** The most common mistake: more selection compute reported as a better policy. */
function selectionNote(knobs: readonly Knob[], rule: unknown): string[] {
  if (knobs.length !== 1 || knobs[0] !== "selection") return [];
  const words =
    "Selection changed: outputs were selected differently, the policy's distribution is unchanged.";
  if (rule !== "best" && rule !== "tieBreakKey") return [words];
  return [
    words,
    "Selection used the same scorer as the measurement, so the gain is an upper bound.",
  ];
}

/** The sample size for the measured effect, by the formula that gives the minimum detectable effect. */
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
  const assumed = binary ? "the same share of rows flips" : "rewards vary as much as here";
  return [
    `To detect this difference with 80 % power, use about ${enough} examples (if ${assumed}).`,
  ];
}

/** A bootstrap interval is too narrow when few rows differ. */
function fewFlipsNote({ binary, flips }: Evidence, comparable: boolean): string[] {
  if (!comparable || !binary || flips.gained + flips.lost >= 10) return [];
  return [
    "Fewer than 10 rows flipped, so the bootstrap interval is too narrow; the exact test decides.",
  ];
}

function noiseNote({ delta }: Measured, { differences }: Evidence): string[] {
  const n = differences.pairs;
  if (delta === null || delta === 0 || n >= NOISE.examples || Math.abs(delta) >= NOISE.delta)
    return [];
  return [
    `Noise rule: on ${n} examples, repeat the experiment before you trust a change under 0.05.`,
  ];
}
