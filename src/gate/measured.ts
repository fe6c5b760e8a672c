/** What was measured between two runs: the difference, its interval and test, and which changes are ruled out. */

import type { GateReport } from "../runs/gate-report.ts";
import { type BoundedUnit, meanLossRuledOut } from "../stats/bounded-mean.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { flipInterval, gainRuledOut, lossRuledOut, smallestLossRuledOut } from "../stats/margin.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { pairedBootstrap, signFlipTest } from "../stats/paired.ts";
import { minimumDetectableEffect, type Spread } from "../stats/power.ts";
import type { Evidence } from "./evidence.ts";

export type Measured = Pick<
  GateReport,
  "delta" | "ci" | "p_value" | "test" | "minimum_detectable_effect"
> & {
  /** What is compared. */
  readonly metric: "pass rate" | "mean reward";
  /** Pairs, or clusters of them. */
  readonly n: number;
  /** How much one of them varies. */
  readonly spread: Spread;
  readonly variance: number;
  /** The largest possible change of a reward; undefined if unknown, and then nothing is ruled out. */
  readonly range: number | undefined;
  /** Whether an improvement of at least this size is ruled out at the level of the test. */
  gainRuledOut(margin: number): boolean;
  /** Whether a loss of at least this size is, here or in `n` pairs (or clusters) that are like these. */
  lossRuledOut(margin: number, n?: number): boolean;
  /** The one-sided p-value of that test; null if it is above one half, or nothing can be ruled out. */
  lossPValue(margin: number): number | null;
};

export const UNMEASURED: Measured = {
  delta: null,
  ci: null,
  p_value: null,
  test: null,
  minimum_detectable_effect: null,
  metric: "pass rate",
  n: 0,
  spread: { variance: 0 },
  variance: 0,
  range: undefined,
  gainRuledOut: () => false,
  lossRuledOut: () => false,
  lossPValue: () => null,
};

/** The seed is fixed, so the same runs always give the same decision. */
const SEED = "lockedroom.gate@1";

export type Paired = Pick<Evidence, "differences" | "binary"> & {
  readonly flips: Pick<Evidence["flips"], "gained" | "lost">;
  /** Where prompts repeat. */
  readonly clusters?: ClusterCounts | undefined;
  /** Of rewards other than 0 and 1: the largest possible change; undefined if it is unknown. */
  readonly range?: number | undefined;
};

export function measure(paired: Paired, alpha: number): Measured {
  const bounds = boundsOf(paired, alpha);
  const lossPValue = (margin: number) => lossPValueOf(paired, margin, alpha);
  const found = paired.clusters
    ? measureClusters(paired, paired.clusters, alpha)
    : (paired.binary ? measureFlips : measureRewards)(paired, alpha);
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

type Bounds = Pick<Measured, "range" | "gainRuledOut" | "lossRuledOut">;

/** Which changes are ruled out, without the interval and the test, which resample. */
export function boundsOf(paired: Paired, alpha: number): Bounds {
  const { differences, binary, flips, clusters } = paired;
  const range = binary ? 1 : paired.range;
  if (clusters) return boundsOfMean(clusters.units(), range, alpha);
  if (!binary) return boundsOfMean(differences.units(), range, alpha);
  const { pairs: n } = differences;
  const { gained, lost } = flips;
  return {
    range,
    gainRuledOut: (margin) => gainRuledOut(gained, lost, n, margin, alpha),
    lossRuledOut: (margin, size = n) => {
      const scaled = (count: number) => Math.round((count * size) / n);
      return lossRuledOut(scaled(gained), scaled(lost), size, margin, alpha);
    },
  };
}

/** A bound on the mean needs a bound on one change: a loss that was not drawn can have any size. */
function boundsOfMean(
  units: readonly BoundedUnit[],
  range: number | undefined,
  alpha: number,
): Bounds {
  if (range === undefined) return { range, gainRuledOut: () => false, lossRuledOut: () => false };
  const negated = units.map((unit) => ({ ...unit, change: -unit.change }));
  return {
    range,
    gainRuledOut: (margin) => meanLossRuledOut({ units: negated, range, margin, alpha }),
    lossRuledOut: (margin, size) => meanLossRuledOut({ units, range, margin, alpha, size }),
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
  return {
    delta: differences.mean() ?? null,
    ci: interval ? { ...interval, confidence } : null,
    variance: differences.variance() ?? 0,
    p_value: mcnemarExact(gained, lost),
    test: "mcnemar_exact",
    minimum_detectable_effect: minimumDetectableEffect({ n, alpha, ...spread }) ?? null,
    ...{ metric: "pass rate", n, spread },
  };
}

function measureRewards({ differences }: Paired, alpha: number): Unbounded {
  const { pairs: n } = differences;
  const mean = meanOf(differences, alpha);
  const spread = { variance: mean.variance };
  return {
    ...mean,
    p_value: signFlipTest(differences, { seed: SEED }).p,
    test: "sign_flip",
    minimum_detectable_effect: minimumDetectableEffect({ n, alpha, ...spread }) ?? null,
    ...{ metric: "mean reward", n, spread },
  };
}

/** The same with whole prompts in place of rows: their signs are flipped, and they are resampled. */
function measureClusters({ binary }: Paired, clusters: ClusterCounts, alpha: number): Unbounded {
  const n = clusters.clusters;
  const { variance, ci } = meanOf(clusters.influences(), alpha);
  const spread = { variance };
  // With all signs equal, p is 2 / 2^n: with fewer prompts nothing is significant.
  const testable = 2 ** (1 - n) <= alpha;
  const effect = testable ? minimumDetectableEffect({ n, alpha, ...spread }) : undefined;
  return {
    ...{ delta: clusters.mean() ?? null, ci, variance },
    p_value: signFlipTest(clusters.sums(), { seed: SEED }).p,
    test: "cluster_sign_flip",
    minimum_detectable_effect: effect ?? null,
    ...{ metric: binary ? "pass rate" : "mean reward", n, spread },
  };
}

function meanOf(
  differences: Evidence["differences"],
  alpha: number,
): Pick<Measured, "delta" | "ci" | "variance"> {
  const confidence = 1 - alpha;
  const interval = pairedBootstrap(differences, { seed: SEED, confidence });
  return {
    delta: differences.mean() ?? null,
    ci: interval ? { low: interval.low, high: interval.high, confidence } : null,
    variance: differences.variance() ?? 0,
  };
}
