/** What was measured between two runs: the difference, its interval and test, and which changes are ruled out. */

import type { GateReport } from "../runs/gate-report.ts";
import { type BoundedUnit, meanLossRuledOut } from "../stats/bounded-mean.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { gainRuledOut, lossRuledOut } from "../stats/margin.ts";
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
  if (paired.clusters) return { ...measureClusters(paired, paired.clusters, alpha), ...bounds };
  return { ...(paired.binary ? measureFlips : measureRewards)(paired, alpha), ...bounds };
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

type Unbounded = Omit<Measured, keyof Bounds>;

/** Pass or fail: the numbers of flips are sufficient. */
function measureFlips({ differences, flips }: Paired, alpha: number): Unbounded {
  const { pairs: n } = differences;
  const { gained, lost } = flips;
  const spread = { discordantShare: n === 0 ? 0 : (gained + lost) / n };
  return {
    ...meanOf(differences, alpha),
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
