/** The difference between two paired runs in numbers, and the decision that follows from them. */

import type { Change, Knob } from "../core/knobs.ts";
import type { Decision, Reason } from "../runs/gate-report.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import type { DifferenceCounts } from "../stats/difference-counts.ts";
import { lossRuledOut, rareLossRuledOut } from "../stats/margin.ts";
import { marginRuledOut, mcnemarExact } from "../stats/mcnemar.ts";
import { normalQuantile } from "../stats/normal-quantile.ts";
import { pairedBootstrap, signFlipTest } from "../stats/paired.ts";
import { minimumDetectableEffect } from "../stats/power.ts";
import type { Evidence } from "./evidence.ts";
import type { Measured } from "./measured.ts";
import { onlySeedChanged } from "./seeds.ts";
import { figuresOf, shownLevel, strength } from "./words.ts";

/** The seed is fixed, so the same runs always give the same decision. */
const SEED = "lockedroom.gate@1";

type Paired = Pick<Evidence, "differences" | "binary"> & {
  readonly flips: Pick<Evidence["flips"], "gained" | "lost">;
  /** Where prompts repeat. */
  readonly clusters?: ClusterCounts | undefined;
  /** The largest possible change of a reward; 1 for pass or fail. */
  readonly range?: number | undefined;
};

export function measure(paired: Paired, alpha: number): Measured {
  const { differences, binary, flips, clusters, range = 1 } = paired;
  const metric = binary ? "pass rate" : "mean reward";
  if (clusters) return { ...measureClusters(clusters, range, alpha), metric };
  const n = differences.pairs;
  const { gained, lost } = flips;
  const confidence = 1 - alpha;
  const interval = pairedBootstrap(differences, { seed: SEED, confidence });
  const spread = binary
    ? { discordantShare: n === 0 ? 0 : (gained + lost) / n }
    : { variance: differences.variance() ?? 0 };
  return {
    delta: differences.mean() ?? null,
    ci: interval ? { low: interval.low, high: interval.high, confidence } : null,
    p_value: binary ? mcnemarExact(gained, lost) : signFlipTest(differences, { seed: SEED }).p,
    test: binary ? "mcnemar_exact" : "sign_flip",
    minimum_detectable_effect: minimumDetectableEffect({ n, alpha, ...spread }) ?? null,
    metric,
    ruledOut: (margin) =>
      binary
        ? marginRuledOut(gained, lost, n, margin, alpha)
        : shiftRuledOut(differences, n - differences.count(0), margin, alpha),
    lossRuledOut: (margin, size = n) =>
      binary
        ? lossRuledOut(scaled(gained, size / n), scaled(lost, size / n), size, margin, alpha)
        : gradedLossRuledOut({ units: differences, signs: differences, worst: range }, margin, {
            ...{ size, alpha },
          }),
  };
}

function scaled(count: number, factor: number): number {
  return Math.round(count * factor);
}

/** The same with whole prompts in place of rows: their signs are flipped, and they are resampled. */
function measureClusters(
  clusters: ClusterCounts,
  range: number,
  alpha: number,
): Omit<Measured, "metric"> {
  const [sums, influences] = [clusters.sums(), clusters.influences()];
  const confidence = 1 - alpha;
  const interval = pairedBootstrap(influences, { seed: SEED, confidence });
  const n = clusters.clusters;
  // With all signs equal, p is 2 / 2^n: with fewer prompts nothing is significant.
  const testable = 2 ** (1 - n) <= alpha;
  const effect = testable
    ? minimumDetectableEffect({ n, alpha, variance: influences.variance() ?? 0 })
    : undefined;
  return {
    delta: clusters.mean() ?? null,
    ci: interval ? { low: interval.low, high: interval.high, confidence } : null,
    p_value: signFlipTest(sums, { seed: SEED }).p,
    test: "cluster_sign_flip",
    minimum_detectable_effect: effect ?? null,
    ruledOut: (margin) => shiftRuledOut(influences, n - sums.count(0), margin, alpha),
    lossRuledOut: (margin, size = n) => {
      // The most that one cluster can take from the mean, as a share of all clusters.
      const worst = (range * clusters.largest * n) / clusters.rows;
      return gradedLossRuledOut({ units: influences, signs: sums, worst }, margin, { size, alpha });
    },
  };
}

/** With fewer differences than this, the normal approximation is not used for graded rewards. */
const MIN_CHANGES = 30;

/** Graded rewards: the upper normal bound on the mean difference is below the margin. */
function shiftRuledOut(
  differences: DifferenceCounts,
  changed: number,
  margin: number,
  alpha: number,
): boolean {
  const [mean, variance] = [differences.mean(), differences.variance()];
  if (mean === undefined || variance === undefined || changed < MIN_CHANGES) return false;
  return mean + normalQuantile(1 - alpha / 2) * Math.sqrt(variance / differences.pairs) < margin;
}

interface GradedUnits {
  /** One value for each pair or cluster, whose mean is the mean difference. */
  readonly units: DifferenceCounts;
  /** The same with the sign of each unit. */
  readonly signs: DifferenceCounts;
  /** The largest possible loss of a unit. */
  readonly worst: number;
}

/**
 * The lower normal bound on the mean is above a loss of the margin; where few units changed, which no
 * normal bound is good for, so few lose that their share times the worst loss is below it.
 */
function gradedLossRuledOut(
  { units, signs, worst }: GradedUnits,
  margin: number,
  { size, alpha }: { readonly size: number; readonly alpha: number },
): boolean {
  const [mean, variance] = [units.mean(), units.variance()];
  if (mean === undefined || variance === undefined) return false;
  const factor = size / units.pairs;
  if ((signs.pairs - signs.count(0)) * factor < MIN_CHANGES)
    return rareLossRuledOut(scaled(signs.below(0), factor), size, margin, worst, alpha);
  return mean - normalQuantile(1 - alpha / 2) * Math.sqrt(variance / size) > -margin;
}

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
  const [seeds] = knobs.length === 0 ? (input.seeds ?? []) : [];
  const otherSeed = seeds ? [onlySeedChanged(seeds)] : [];
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
  if (minDelta > 0 && isSmall && measured.ruledOut(minDelta)) {
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

/** Refuses a difference with more than one possible cause. */
export function confounded(knobs: readonly Change[]): Decided | undefined {
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
