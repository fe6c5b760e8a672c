/**
 * The promotion gate. Reads two run folders, and nothing else unless further checks do, and answers
 * three questions in order: are the runs comparable, which one thing changed, is the difference significant?
 */

import { usageError } from "../core/errors.ts";
import { KNOBS, type Knob } from "../core/knobs.ts";
import { GATE_SCHEMA, type GateReport, type Reason } from "../runs/gate-report.ts";
import { openRun, type Run } from "../runs/reader.ts";
import { smallestLossRuledOut } from "../stats/margin.ts";
import { type AxisMargins, axisNotes, decideAxes, measureAxes, otherAxes } from "./axes.ts";
import { AxesEvidence } from "./axis-evidence.ts";
import { changesOf, OF_THE_ANSWERS } from "./changes.ts";
import { compareManifests, sameAnswersOfOne } from "./comparability.ts";
import { claimReason, type Decided, decide } from "./decide.ts";
import { unknownAxes } from "./embedded-axes.ts";
import { type EvidenceOptions, gatherEvidence } from "./evidence.ts";
import { withoutFollowOn } from "./follow-on.ts";
import { HISTORY_UNKNOWN, historyReason, ON_VALIDATION_DATA } from "./history.ts";
import { measure, UNMEASURED } from "./measured.ts";
import { decideNoRegression } from "./no-regression.ts";
import { fewChangesNote, noiseNote, selectionNote, solvedNote, symmetryNote } from "./notes.ts";
import { slicesNote } from "./pair-slices.ts";
import { clustersOf } from "./repeated-prompts.ts";
import { otherBuiltIn } from "./rescore.ts";
import { outOfRange, rewardRange, rewardScale } from "./reward-range.ts";
import { sizeNote } from "./sample-size.ts";
import { correctedLevel, seedsDiffer } from "./seeds.ts";
import { decideSlices, measureSlices } from "./slices.ts";

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
  /** Further checks of the two runs; each reason that they give refuses the comparison. */
  readonly further?: ((baseline: Run, candidate: Run) => Promise<FurtherChecks>) | undefined;
}

/** What further checks found. `verifyBoth` and `checkSeals` of `lockedroom/verify` are such checks. */
export interface FurtherChecks {
  readonly reasons: readonly Reason[];
  readonly verified?: GateReport["verified"];
  readonly seals?: GateReport["seals"];
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
export const GATE_EXIT = {
  PROMOTE: 0,
  PASS: 0,
  REJECT: 1,
  INCONCLUSIVE: 2,
  NOT_COMPARABLE: 3,
} as const;

/** The claim that nothing was lost, whatever changed in how the answers were made. */
export const NO_REGRESSION = "no-regression";

/** A higher level would promote one in ten candidates that are no better. */
export const LARGEST_ALPHA = 0.2;

/**
 * Decides whether the candidate run may replace the baseline. Reads the two folders; only the checks
 * of `further` read anything else.
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
  const { minDelta = 0, alpha = 0.05, margin, slice } = options;
  requireOptions({ ...options, minDelta, alpha });
  const claim = options.claim === NO_REGRESSION ? undefined : options.claim;
  const [baseline, candidate] = [await openRun(options.baseline), await openRun(options.candidate)];
  const comparability = compareManifests(baseline.manifest, candidate.manifest);
  const { knobs } = comparability;
  const onAxes = new AxesEvidence(baseline.manifest, candidate.manifest);
  requireAxes(options, onAxes);
  const evidence = await gatherEvidence(baseline, candidate, {
    slice,
    onPair(before, after) {
      onAxes.add(before, after);
      options.onPair?.(before, after);
    },
  });
  const further = await options.further?.(baseline, candidate);
  const allowed = new Allowed(options);
  // Without a claim of a knob, a margin allows several changes: no cause is claimed.
  const anyChange = margin !== undefined && claim === undefined;
  const range = rewardRange([baseline.manifest, candidate.manifest], options.rewardRange);
  const scale = rewardScale(evidence.binary, range);
  const otherSeeds = seedsDiffer(baseline.manifest, candidate.manifest);
  const found = [
    ...comparability.violations,
    // Whatever changed, a seed may be chosen by its results; of policies it is known already.
    ...(anyChange && knobs.length > 0
      ? otherSeeds.filter(({ code }) => !comparability.violations.some((one) => one.code === code))
      : []),
    ...withoutFollowOn(evidence.violations, comparability.violations),
    ...outOfRange(range, evidence),
    ...otherAxes(baseline.manifest, candidate.manifest),
    ...(await unknownAxes(baseline.manifest, candidate.manifest)),
    ...onAxes.reasons(),
    ...(further?.reasons ?? []),
  ];
  const violations = allowed
    .rest(found)
    .filter(({ code }) => !(anyChange && OF_THE_ANSWERS.has(code)));
  const changed = anyChange ? changesOf(knobs, found, OF_THE_ANSWERS) : undefined;
  const history = claim === "policy" ? allowed.rest(historyReason(candidate.manifest)) : [];
  const comparable = violations.length === 0;
  const seeds = correctedLevel(baseline.manifest, candidate.manifest, alpha);
  const level = seeds?.level ?? alpha;
  const clustered = comparable
    ? await clustersOf(baseline, candidate, evidence.repeated, slice, [...onAxes.byName.keys()])
    : undefined;
  const clusters = clustered?.whole;
  const paired = { ...evidence, ...scale };
  const measured = comparable ? measure({ ...paired, clusters }, level) : UNMEASURED;
  const { delta, ci, p_value, test, minimum_detectable_effect } = measured;
  const unchanged = knobs.length === 0 && sameAnswersOfOne(baseline.manifest, candidate.manifest);
  const refused = [...violations, ...claimReason(knobs, claim), ...history];
  const slices =
    slice !== undefined && comparable
      ? measureSlices({
          ...{ field: slice, ...paired, level, clusters: clustered?.bySlice },
          margin: options.sliceMargin ?? margin,
          unchanged,
        })
      : undefined;
  const whole: Decided =
    comparable && history.length === 0
      ? margin === undefined
        ? decide({ knobs, measured, minDelta, alpha, level, claim, seeds: otherSeeds })
        : decideNoRegression({
            ...{ knobs, changed: changed ?? knobs, measured, margin, level, claim },
            seeds: otherSeeds,
            unchanged,
          })
      : { decision: "REJECT", reasons: refused };
  const main = slices ? decideSlices(whole, slices) : whole;
  const instruments = candidate.manifest.axes ?? [];
  const values =
    comparable && instruments.length > 0
      ? measureAxes({
          ...{ ...options, axes: instruments, evidence: onAxes.byName, level },
          clusters: clustered?.byAxis,
        })
      : [];
  const verdict = values.length > 0 ? decideAxes(main, values) : { ...main, axes: undefined };
  const { decision, reasons } = verdict;
  const times = repeatsOf(candidate);
  return {
    schema: GATE_SCHEMA,
    decision,
    exit_code: comparable ? GATE_EXIT[decision] : GATE_EXIT.NOT_COMPARABLE,
    comparable,
    knobs,
    ...(changed && { changed }),
    claim: options.claim ?? null,
    reasons: GATE_EXIT[decision] === 0 ? reasons.map(onceScored(baseline, candidate)) : reasons,
    ...(allowed.codes.length > 0 && { allowed: allowed.codes }),
    notes: [
      ...allowed.notes(),
      ...comparability.notes,
      ...(await otherBuiltIn([baseline.manifest, candidate.manifest])),
      ...selectionNote(knobs, candidate.manifest.selection?.rule),
      ...noiseNote(measured, clusters?.effective ?? evidence.differences.pairs),
      ...fewChangesNote(measured, clusters),
      ...(slice === undefined && comparable ? slicesNote(baseline, candidate) : []),
      ...axisNotes(instruments, values),
      ...symmetryNote(measured),
      ...solvedNote(measured, evidence.baseline, evidence.candidate),
      // No number of examples makes the same thing better than itself, nor undoes a loss in a slice.
      ...((knobs.length === 0 && (margin === undefined || unchanged)) || decision !== whole.decision
        ? []
        : sizeNote(whole.decision, measured, level, margin)),
    ],
    baseline: evidence.baseline,
    candidate: evidence.candidate,
    ...{ delta, ci, p_value, test, minimum_detectable_effect },
    flips: comparable ? evidence.flips : null,
    min_delta: minDelta,
    ...(margin !== undefined && {
      ...{
        margin,
        loss_bound: smallestLossRuledOut(measured.lossRuledOut, measured.range) ?? null,
        margin_p_value: measured.lossPValue(margin),
      },
    }),
    ...(range && !scale.binary && { reward_range: range }),
    alpha,
    ...(seeds && { seeds_tried: seeds }),
    ...(clusters && {
      repeated_prompts: clusters.rows - clusters.clusters,
      effective_examples: clusters.effective,
    }),
    ...(times !== undefined && { repeats: times }),
    ...(slices && { slices }),
    ...(verdict.axes && { axes: verdict.axes }),
    ...(further?.verified && { verified: further.verified }),
    ...(further?.seals && { seals: further.seals }),
  };
}

function requireOptions(
  options: Pick<GateOptions, "claim" | "margin" | "slice" | "sliceMargin" | "rewardRange"> & {
    readonly minDelta: number;
    readonly alpha: number;
  },
): void {
  const { minDelta, alpha, claim, margin } = options;
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
function requireAxes({ axisMargin = 0, axisMargins = {} }: AxisMargins, found: AxesEvidence): void {
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

/** A promotion by a scorer that may answer otherwise next time says so where it cannot be missed. */
function onceScored(...runs: readonly Run[]): (reason: Reason) => Reason {
  if (runs.every(({ manifest }) => manifest.scorer.deterministic !== false)) return (it) => it;
  const caution = "The scorer is non-deterministic: score both again before you rely on this.";
  return (reason) => ({ ...reason, message: `${reason.message} ${caution}` });
}

function repeatsOf({ manifest }: Run): number | undefined {
  const { repeats: times } = manifest.settings;
  return typeof times === "number" ? times : undefined;
}

/** What would refuse a comparison and was allowed by the caller. */
class Allowed {
  readonly #allowable: ReadonlyMap<string, string>;
  readonly codes: string[] = [];

  constructor({ allowDev = false, allowUnknownHistory = false }: GateOptions) {
    this.#allowable = new Map([
      ...(allowDev ? [[ON_VALIDATION_DATA, DEV_ALLOWED] as const] : []),
      ...(allowUnknownHistory ? [[HISTORY_UNKNOWN, HISTORY_ALLOWED] as const] : []),
    ]);
  }

  /** The reasons that are not allowed. */
  rest(reasons: readonly Reason[]): Reason[] {
    return reasons.filter(({ code }) => {
      if (this.#allowable.has(code)) this.codes.push(code);
      return !this.#allowable.has(code);
    });
  }

  notes(): string[] {
    return this.codes.flatMap((code) => this.#allowable.get(code) ?? []);
  }
}

const DEV_ALLOWED =
  "Allowed by --allow-dev: a policy is measured on validation data of its training, which its checkpoint may have been chosen by.";
const HISTORY_ALLOWED =
  "Allowed by --allow-unknown-history: the candidate does not say what it was trained on.";
