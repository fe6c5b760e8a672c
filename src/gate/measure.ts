/** The difference between two paired runs, in numbers. */

import type { GateReport } from "../runs/gate-report.ts";
import type { DifferenceCounts } from "../stats/difference-counts.ts";
import { marginRuledOut } from "../stats/margin.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { normalQuantile } from "../stats/normal-quantile.ts";
import { pairedBootstrap, signFlipTest } from "../stats/paired.ts";
import { minimumDetectableEffect } from "../stats/power.ts";

export type Measured = Pick<
  GateReport,
  "delta" | "ci" | "p_value" | "test" | "minimum_detectable_effect"
> & {
  /** Whether an improvement of at least this size is ruled out at the level of the test. */
  ruledOut(margin: number): boolean;
};

export const UNMEASURED: Measured = {
  delta: null,
  ci: null,
  p_value: null,
  test: null,
  minimum_detectable_effect: null,
  ruledOut: () => false,
};

/** The seed is fixed, so the same runs always give the same decision. */
const SEED = "lockedroom.gate@1";

export interface Paired {
  readonly differences: DifferenceCounts;
  /** Every reward is 0 or 1, so the numbers of flips are sufficient. */
  readonly binary: boolean;
  readonly flips: { readonly gained: number; readonly lost: number };
}

export function measure({ differences, binary, flips }: Paired, alpha: number): Measured {
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
    ruledOut: (margin) =>
      binary
        ? marginRuledOut(gained, lost, n, margin, alpha)
        : shiftRuledOut(differences, margin, alpha),
  };
}

/** With fewer differences than this, the normal approximation is not used for graded rewards. */
const MIN_CHANGES = 30;

/** Graded rewards: the upper normal bound on the mean difference is below the margin. */
function shiftRuledOut(differences: DifferenceCounts, margin: number, alpha: number): boolean {
  const [mean, variance] = [differences.mean(), differences.variance()];
  const changed = differences.pairs - differences.count(0);
  if (mean === undefined || variance === undefined || changed < MIN_CHANGES) return false;
  return mean + normalQuantile(1 - alpha / 2) * Math.sqrt(variance / differences.pairs) < margin;
}
