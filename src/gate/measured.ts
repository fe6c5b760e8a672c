/** What was measured between two runs: the difference, its interval and test, and which changes are ruled out. */

import type { GateReport } from "../runs/gate-report.ts";
import {
  meanLossPValue,
  meanLossRuledOut,
  negated,
  smallestMeanShown,
  unitsToRuleOut,
} from "../stats/bounded-mean.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { flipInterval, gainRuledOut, lossRuledOut, smallestLossRuledOut } from "../stats/margin.ts";
import { pairsToRuleOut } from "../stats/margin-power.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { pairedBootstrap, signFlipTest } from "../stats/paired.ts";
import { minimumDetectableEffect, pairsForEffect } from "../stats/power.ts";
import type { Evidence } from "./evidence.ts";

export type Measured = Pick<
  GateReport,
  "delta" | "ci" | "p_value" | "test" | "minimum_detectable_effect"
> & {
  /** What is compared. */
  readonly metric: "pass rate" | "mean reward";
  /** Pairs, or clusters of them. */
  readonly n: number;
  /** The largest possible change of a reward; undefined if unknown, and then nothing is ruled out. */
  readonly range: number | undefined;
  /** Whether an improvement of at least this size is ruled out at the level of the test. */
  gainRuledOut(margin: number): boolean;
  /** Whether a loss of at least this size is. */
  lossRuledOut(margin: number): boolean;
  /** The one-sided p-value of that test; null if it is above one half, or nothing can be ruled out. */
  lossPValue(margin: number): number | null;
  /** About how many pairs, or clusters, like these rule such a loss out with 80 % power. */
  sizeToRuleOut(margin: number): number | undefined;
  /** About how many show this difference at a level of the test. */
  sizeToShow(level: number): number | undefined;
};

export const UNMEASURED: Measured = {
  delta: null,
  ci: null,
  p_value: null,
  test: null,
  minimum_detectable_effect: null,
  metric: "pass rate",
  n: 0,
  range: undefined,
  gainRuledOut: () => false,
  lossRuledOut: () => false,
  lossPValue: () => null,
  sizeToRuleOut: () => undefined,
  sizeToShow: () => undefined,
};

/** The seed is fixed, so the same runs always give the same decision. */
const SEED = "lockedroom.gate@1";

export type Paired = Pick<Evidence, "differences"> & {
  /** Pass or fail, as `rewardScale` found. */
  readonly binary: boolean;
  readonly flips: Pick<Evidence["flips"], "gained" | "lost">;
  /** Where prompts repeat. */
  readonly clusters?: ClusterCounts | undefined;
  /** Of rewards other than 0 and 1: the largest possible change; undefined if it is unknown. */
  readonly range?: number | undefined;
};

export function measure(paired: Paired, alpha: number): Measured {
  const bounds = boundsOf(paired, alpha);
  const lossPValue = (margin: number) => lossPValueOf(paired, margin, alpha);
  const found = isOfFlips(paired) ? measureFlips(paired, alpha) : measureMean(paired, alpha);
  const measured = { ...found, ...bounds, lossPValue };
  return { ...measured, ci: agreeing(measured, changedUnits(paired), alpha) };
}

/** With fewer units that changed, resampling them gives an interval that is too narrow. */
export const FEW_CHANGED = 10;

function changedUnits({ differences, clusters }: Paired): number {
  if (clusters) return clusters.clusters - clusters.sums().count(0);
  return differences.pairs - differences.count(0);
}

/** Where the test finds no difference, 0 lies in the interval, and with few changes also all that is not ruled out. */
function agreeing(measured: Measured, changed: number, alpha: number): Measured["ci"] {
  const { ci, p_value: p, range, test } = measured;
  if (ci === null || p === null || p <= alpha) return ci;
  const [low, high] = [Math.min(ci.low, 0), Math.max(ci.high, 0)];
  if (test === "mcnemar_exact" || changed >= FEW_CHANGED || range === undefined)
    return { ...ci, low, high };
  const loss = smallestLossRuledOut(measured.lossRuledOut, range) ?? range;
  const gain = smallestLossRuledOut(measured.gainRuledOut, range) ?? range;
  return { ...ci, low: Math.min(low, -loss), high: Math.max(high, gain) };
}

const LARGEST_LEVEL = 0.999;

/** The lowest level at which the loss is ruled out, to within a hundredth of it; halved: one-sided. */
function lossPValueOf(paired: Paired, margin: number, alpha: number): number | null {
  const ruledOutAt = (level: number) => boundsOf(paired, level).lossRuledOut(margin);
  let [low, high] = [1e-5, alpha];
  if (!ruledOutAt(alpha)) [low, high] = [alpha, LARGEST_LEVEL];
  if (!ruledOutAt(high)) return null;
  while (high / low > 1.01) {
    const middle = Math.sqrt(low * high);
    if (ruledOutAt(middle)) high = middle;
    else low = middle;
  }
  return high / 2;
}

type Bounds = Pick<Measured, "range" | "gainRuledOut" | "lossRuledOut" | "sizeToRuleOut">;

/** The numbers of flips are sufficient for pass-or-fail rows that are independent. */
const isOfFlips = ({ binary, clusters }: Paired) => binary && !clusters;
const rangeOf = ({ binary, range }: Paired) => (binary ? 1 : range);
const unitsOf = ({ differences, clusters }: Paired) => (clusters ?? differences).units();

/** Which changes are ruled out, without the interval and the test, which resample. */
export function boundsOf(paired: Paired, alpha: number): Bounds {
  if (!isOfFlips(paired)) return boundsOfMean(paired, alpha);
  const { gained, lost } = paired.flips;
  const { pairs: n } = paired.differences;
  return {
    range: 1,
    gainRuledOut: (margin) => gainRuledOut(gained, lost, n, margin, alpha),
    lossRuledOut: (margin) => lossRuledOut(gained, lost, n, margin, alpha),
    sizeToRuleOut: (margin) =>
      n === 0 ? undefined : pairsToRuleOut({ gained: gained / n, lost: lost / n, margin, alpha }),
  };
}

/** A bound on the mean needs a bound on one change: a loss that was not drawn can have any size. */
function boundsOfMean(paired: Paired, alpha: number): Bounds {
  const range = rangeOf(paired);
  if (range === undefined) {
    const never = () => false;
    return { range, gainRuledOut: never, lossRuledOut: never, sizeToRuleOut: () => undefined };
  }
  const units = unitsOf(paired);
  const mirrored = negated(units);
  return {
    range,
    gainRuledOut: (margin) =>
      margin > 0 && meanLossRuledOut({ units: mirrored, range, margin, alpha }),
    lossRuledOut: (margin) => margin > 0 && meanLossRuledOut({ units, range, margin, alpha }),
    sizeToRuleOut: (margin) => unitsToRuleOut({ units, range, margin, alpha }),
  };
}

type Unbounded = Omit<Measured, keyof Bounds | "lossPValue">;

/** Pass or fail: the numbers of flips are sufficient. */
function measureFlips({ differences, flips }: Paired, alpha: number): Unbounded {
  const { pairs: n } = differences;
  const { gained, lost } = flips;
  const spread = { discordantShare: n === 0 ? 0 : (gained + lost) / n };
  const confidence = 1 - alpha;
  const interval = flipInterval(gained, lost, n, confidence);
  const effect = Math.abs(differences.mean() ?? 0);
  return {
    delta: differences.mean() ?? null,
    ci: interval ? { ...interval, confidence } : null,
    p_value: mcnemarExact(gained, lost),
    test: "mcnemar_exact",
    minimum_detectable_effect: minimumDetectableEffect({ n, alpha, ...spread }) ?? null,
    sizeToShow: (level) => pairsForEffect({ effect, alpha: level, ...spread }),
    ...{ metric: "pass rate", n },
  };
}

/** Any other rewards, and whole prompts in place of rows where they repeat. */
function measureMean(paired: Paired, alpha: number): Unbounded {
  const { differences, clusters, binary } = paired;
  const each = clusters?.influences() ?? differences;
  return {
    delta: (clusters ?? differences).mean() ?? null,
    ci: intervalOf(each, alpha),
    ...(rangeOf(paired) === undefined ? bySigns(paired, alpha) : byBets(paired, alpha)),
    ...{ metric: binary ? "pass rate" : "mean reward", n: each.pairs },
  };
}

type Tested = Pick<Measured, "p_value" | "test" | "minimum_detectable_effect" | "sizeToShow">;

/** With a known range: holds for changes of any distribution. */
function byBets(paired: Paired, alpha: number): Tested {
  const range = rangeOf(paired) ?? 0;
  const units = unitsOf(paired);
  const sum = units.reduce((total, { change, count }) => total + change * count, 0);
  // If one direction gains capital, the mean is on that side.
  const question = { units: sum < 0 ? negated(units) : units, range, margin: 0 };
  return {
    p_value: meanLossPValue(question),
    test: paired.clusters ? "cluster_betting" : "betting",
    minimum_detectable_effect: smallestMeanShown({ units, range, alpha }) ?? null,
    sizeToShow: (level) => unitsToRuleOut({ ...question, alpha: level }),
  };
}

/** Without one: holds if each change is as likely up as down. */
function bySigns({ differences, clusters }: Paired, alpha: number): Tested {
  const each = clusters?.influences() ?? differences;
  const [n, variance] = [each.pairs, each.variance() ?? 0];
  // With all signs equal, p is 2 / 2^n: with fewer nothing is significant.
  const testable = 2 ** (1 - n) <= alpha;
  const effect = testable ? minimumDetectableEffect({ n, alpha, variance }) : undefined;
  return {
    p_value: signFlipTest(clusters?.sums() ?? differences, { seed: SEED }).p,
    test: clusters ? "cluster_sign_flip" : "sign_flip",
    minimum_detectable_effect: effect ?? null,
    sizeToShow: (level) =>
      pairsForEffect({ effect: Math.abs(each.mean() ?? 0), alpha: level, variance }),
  };
}

function intervalOf(differences: Evidence["differences"], alpha: number): Measured["ci"] {
  const confidence = 1 - alpha;
  const interval = pairedBootstrap(differences, { seed: SEED, confidence });
  return interval ? { low: interval.low, high: interval.high, confidence } : null;
}
