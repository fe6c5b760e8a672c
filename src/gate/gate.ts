/**
 * The promotion gate. Reads two run folders, and nothing else unless further checks do, and answers
 * three questions in order: are the runs comparable, which one thing changed, is the difference significant?
 */

import { GATE_SCHEMA, type GateReport, type Reason } from "../runs/gate-report.ts";
import type { Run } from "../runs/reader.ts";
import { smallestLossRuledOut } from "../stats/margin.ts";
import { type AxesReport, axisNotes, decideAxes } from "./axes.ts";
import { type Collected, collect } from "./collected.ts";
import { claimReason, type Decided, decide } from "./decide.ts";
import { accuracyNote, reportedJudge, requireTrust } from "./judge-trust.ts";
import { decideNoRegression } from "./no-regression.ts";
import { fewChangesNote, noiseNote, selectionNote, solvedNote, symmetryNote } from "./notes.ts";
import { claimedKnob, DEFAULT_ALPHA, type GateOptions, requireOptions } from "./options.ts";
import { slicesNote } from "./pair-slices.ts";
import { otherBuiltIn } from "./rescore.ts";
import { sizeNote } from "./sample-size.ts";
import { decideSlices } from "./slices.ts";
import { type Weighed, weigh } from "./weighed.ts";

export { type FurtherChecks, type GateOptions, LARGEST_ALPHA, NO_REGRESSION } from "./options.ts";

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
  requireOptions(options);
  const collected = await collect(options);
  const weighed = await weigh(collected, options);
  const whole = decideWhole(collected, weighed, options);
  const verdict = requireTrust(decideParts(whole, weighed), collected.trust);
  const notes = await notesOf(collected, weighed, whole, verdict, options);
  return reportOf(collected, weighed, { ...verdict, notes }, options);
}

/** The decision by the main reward over all examples. */
function decideWhole(
  { comparability: { knobs }, violations, history, changed, otherSeeds: seeds }: Collected,
  { comparable, measured, level, unchanged }: Weighed,
  options: GateOptions,
): Decided {
  const { minDelta = 0, alpha = DEFAULT_ALPHA, margin } = options;
  const claim = claimedKnob(options);
  if (!comparable || history.length > 0)
    return {
      decision: "REJECT",
      reasons: [...violations, ...claimReason(knobs, claim), ...history],
    };
  return margin === undefined
    ? decide({ knobs, measured, minDelta, alpha, level, claim, seeds })
    : decideNoRegression({
        ...{ knobs, changed: changed ?? knobs, measured, margin, level, claim, seeds, unchanged },
      });
}

interface Verdict extends Decided {
  readonly axes: AxesReport | undefined;
}

/** A loss in a slice or on an axis decides, whatever the whole shows. */
function decideParts(whole: Decided, { slices, axes }: Weighed): Verdict {
  const main = slices ? decideSlices(whole, slices) : whole;
  return axes.length > 0 ? decideAxes(main, axes) : { ...main, axes: undefined };
}

function reportOf(
  {
    baseline,
    candidate,
    comparability,
    evidence,
    range,
    changed,
    allowed,
    further,
    trust,
  }: Collected,
  { comparable, scale, seeds, clusters, measured, slices }: Weighed,
  { decision, reasons, axes, notes }: Verdict & Pick<GateReport, "notes">,
  { claim, minDelta = 0, alpha = DEFAULT_ALPHA, margin }: GateOptions,
): GateReport {
  const { delta, ci, p_value, test, minimum_detectable_effect } = measured;
  const times = repeatsOf(candidate);
  return {
    schema: GATE_SCHEMA,
    decision,
    exit_code: comparable ? GATE_EXIT[decision] : GATE_EXIT.NOT_COMPARABLE,
    comparable,
    knobs: comparability.knobs,
    ...(changed && { changed }),
    claim: claim ?? null,
    reasons: GATE_EXIT[decision] === 0 ? reasons.map(onceScored(baseline, candidate)) : reasons,
    ...(allowed.codes.length > 0 && { allowed: allowed.codes }),
    notes,
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
    ...(axes && { axes }),
    ...(trust && { judge: reportedJudge(trust) }),
    ...(further?.verified && { verified: further.verified }),
    ...(further?.seals && { seals: further.seals }),
  };
}

async function notesOf(
  { baseline, candidate, comparability, evidence, allowed, trust }: Collected,
  { comparable, clusters, measured, level, unchanged, axes }: Weighed,
  whole: Decided,
  { decision }: Verdict,
  { slice, margin }: GateOptions,
): Promise<string[]> {
  const { knobs } = comparability;
  // No number of examples makes the same thing better than itself, nor undoes a loss in a slice.
  const isSizeIdle =
    (knobs.length === 0 && (margin === undefined || unchanged)) || decision !== whole.decision;
  return [
    ...allowed.notes(),
    ...comparability.notes,
    ...(await otherBuiltIn([baseline.manifest, candidate.manifest])),
    ...selectionNote(knobs, candidate.manifest.selection?.rule),
    ...noiseNote(measured, clusters?.effective ?? evidence.differences.pairs),
    ...fewChangesNote(measured, clusters),
    ...(slice === undefined && comparable ? slicesNote(baseline, candidate) : []),
    ...axisNotes(candidate.manifest.axes ?? [], axes),
    ...(comparable ? accuracyNote(trust, candidate.manifest) : []),
    ...symmetryNote(measured),
    ...solvedNote(measured, evidence.baseline, evidence.candidate),
    ...(isSizeIdle ? [] : sizeNote(whole.decision, measured, level, margin)),
  ];
}

/** A promotion by a scorer that may answer otherwise next time says so where it cannot be missed. */
function onceScored(...runs: readonly Run[]): (reason: Reason) => Reason {
  // How far a judge agrees with itself its audit says.
  const isSure = ({ manifest: { scorer, judge } }: Run) => scorer.deterministic !== false || judge;
  if (runs.every(isSure)) return (it) => it;
  const caution = "The scorer is non-deterministic: score both again before you rely on this.";
  return (reason) => ({ ...reason, message: `${reason.message} ${caution}` });
}

function repeatsOf({ manifest }: Run): number | undefined {
  const { repeats: times } = manifest.settings;
  return typeof times === "number" ? times : undefined;
}
