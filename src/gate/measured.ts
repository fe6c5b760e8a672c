/** What was measured between two runs. */

import type { GateReport } from "../runs/gate-report.ts";

export type Measured = Pick<
  GateReport,
  "delta" | "ci" | "p_value" | "test" | "minimum_detectable_effect"
> & {
  /** What is compared. */
  readonly metric: "pass rate" | "mean reward";
  /** Whether an improvement of at least this size is ruled out at the level of the test. */
  ruledOut(margin: number): boolean;
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
  ruledOut: () => false,
  lossRuledOut: () => false,
};
