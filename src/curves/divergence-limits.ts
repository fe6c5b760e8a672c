/** Thresholds of the directions, each with a reason. */

export interface DivergenceLimits {
  /** Steps averaged for "now" and for "the start": one batch is too noisy. */
  readonly window: number;
  /** Significance level of "validation fell", corrected for all pairs of evaluations, since it stops the run. */
  readonly level: number;
  /** Minimum fall of the validation reward. */
  readonly fall: number;
  /** Significance level of tests that do not stop the run. */
  readonly sure: number;
  /** Smaller rises of the validation reward do not count as improvement. */
  readonly matters: number;
  /** Evaluations after the best one that are needed to call validation flat. */
  readonly flatEvaluations: number;
  /** Mann–Kendall z of a rising reward while validation is flat; tested after each evaluation. */
  readonly rewardTrend: number;
  /** Minimum steps of a trend: below 8 even a perfect order can be chance. */
  readonly trendSteps: number;
}

export const DIVERGENCE_LIMITS: DivergenceLimits = {
  ...{ window: 5, level: 0.01, fall: 0.04, sure: 0.05, matters: 0.03, flatEvaluations: 6 },
  ...{ rewardTrend: 3.5, trendSteps: 8 },
};
