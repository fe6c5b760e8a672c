/** What the gate is asked, and what of it is refused. */

import { usageError } from "../core/errors.ts";
import { KNOBS, type Knob } from "../core/knobs.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Run } from "../runs/reader.ts";
import type { AxisMargins } from "./axes.ts";
import type { AxesEvidence } from "./axis-evidence.ts";
import type { EvidenceOptions } from "./evidence.ts";

/** What `gate` is given. @see {@link gate} */
export interface GateOptions extends AxisMargins {
  readonly baseline: string;
  readonly candidate: string;
  /** The smallest improvement worth having. */
  readonly minDelta?: number | undefined;
  /** Significance level, at most 0.2; at most half of this is the false-promotion rate. */
  readonly alpha?: number | undefined;
  /** What the caller says has changed, anything else is rejected; or that nothing was lost. */
  readonly claim?: Knob | typeof NO_REGRESSION | undefined;
  /** Ask for no regression instead of an improvement: a loss of this size must be ruled out. */
  readonly margin?: number | undefined;
  /** Compare the examples of each value of this field apart; a slice that is worse rejects. */
  readonly slice?: string | undefined;
  /** The loss to be ruled out in every slice; the margin if absent. */
  readonly sliceMargin?: number | undefined;
  /** The lowest and the highest possible reward, where the scorer declares none or too little; the report records it. */
  readonly rewardRange?: readonly [low: number, high: number] | undefined;
  /** Called with every pair of rows of one example. */
  readonly onPair?: EvidenceOptions["onPair"];
  /** Compare even if the data were validation data of a policy's training; the report records it. */
  readonly allowDev?: boolean | undefined;
  /** Take a claim of policy from a checkpoint of unknown history; the report records it. */
  readonly allowUnknownHistory?: boolean | undefined;
  /** Of judged runs: the folder of an audit of their judge; without one nothing is promoted. */
  readonly judgeAudit?: string | undefined;
  /** Further checks of the two runs; each reason that they give refuses the comparison. */
  readonly further?: ((baseline: Run, candidate: Run) => Promise<FurtherChecks>) | undefined;
}

/** What further checks found. `verifyBoth` and `checkSeals` of `lockedroom/verify` are such checks. */
export interface FurtherChecks {
  readonly reasons: readonly Reason[];
  readonly verified?: GateReport["verified"];
  readonly seals?: GateReport["seals"];
}

/** The claim that nothing was lost, whatever changed in how the answers were made. */
export const NO_REGRESSION = "no-regression";

/** A higher level would promote one in ten candidates that are no better. */
export const LARGEST_ALPHA = 0.2;

export const DEFAULT_ALPHA = 0.05;

/** The knob that the caller says has changed. */
export const claimedKnob = ({ claim }: Pick<GateOptions, "claim">): Knob | undefined =>
  claim === NO_REGRESSION ? undefined : claim;

export function requireOptions(options: GateOptions): void {
  const { minDelta = 0, alpha = DEFAULT_ALPHA, claim, margin } = options;
  if (!(minDelta >= 0 && minDelta < Number.POSITIVE_INFINITY))
    throw usageError("--min-delta must be 0 or more");
  if (!(alpha > 0 && alpha <= LARGEST_ALPHA)) {
    throw usageError(
      `--alpha must be above 0 and at most ${LARGEST_ALPHA}`,
      "Use 0.05, or less where a false promotion is expensive.",
    );
  }
  const claims = [...Object.keys(KNOBS), NO_REGRESSION];
  if (claim !== undefined && !claims.includes(claim))
    throw usageError(`--claim must be one of ${claims.join(", ")}`);
  if (margin !== undefined && !(margin > 0 && margin < Number.POSITIVE_INFINITY))
    throw usageError("--margin must be above 0", "Give the loss to rule out, such as 0.02.");
  if (claim === NO_REGRESSION && margin === undefined) {
    throw usageError(
      "--claim no-regression needs --margin",
      "Give the loss that must be ruled out, such as --margin 0.02.",
    );
  }
  if (
    options.sliceMargin !== undefined &&
    !(options.sliceMargin > 0 && options.slice !== undefined)
  )
    throw usageError("--slice-margin must be above 0, and needs --slice");
  const [low = 0, high = 1] = options.rewardRange ?? [];
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high))
    throw usageError("--reward-range must be two numbers, the lower first", "Such as 0,1.");
  if (margin !== undefined && minDelta > 0) {
    throw usageError(
      "--margin and --min-delta ask for different things",
      "Use --margin to rule out a loss, or --min-delta to ask for an improvement.",
    );
  }
}

/** Refuses margins that are none, and those of an axis that the runs do not have. */
export function requireAxes(
  { axisMargin = 0, axisMargins = {} }: AxisMargins,
  found: AxesEvidence,
): void {
  for (const value of [axisMargin, ...Object.values(axisMargins)]) {
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
      throw usageError("--axis-margin must be 0 or more", "Such as 0.02, or safety=0.");
  }
  const unknown = Object.keys(axisMargins).find((name) => !found.byName.has(name));
  if (unknown === undefined) return;
  const names = [...found.byName.keys()].join(", ");
  throw usageError(
    `the runs have no axis ${JSON.stringify(unknown)} in common`,
    names === "" ? "Evaluate both with --axis." : `They have ${names}.`,
  );
}
