/** Thresholds of the alarms, each with a default and a reason. */

import { DIVERGENCE_LIMITS, type DivergenceLimits } from "../../curves/divergence-limits.ts";

export interface Limits extends DivergenceLimits {
  /** Mann–Kendall z of the wrong direction; stricter because it is tested after each step. */
  readonly backwardsTrend: number;
  /** Only falls within the first steps suggest a wrong sign. */
  readonly backwardsWithin: number;
  /** Minimum fall of the mean reward, in standard deviations of one reward. */
  readonly backwardsReward: number;
  /** The same where all rewards have become equal, which rare rewards do by chance. */
  readonly ruinedReward: number;
  /** Minimum rise of a loss, as a share of its first value. */
  readonly backwardsLoss: number;

  /** Rise of the mean loss above the first one that a ruined policy has, as a share … */
  readonly ruinedLoss: number;
  /** … and in nats: small losses double easily. */
  readonly ruinedLossLeast: number;
  /** Part of the rise that one update makes, where the rate is not high: a wrong sign raises the loss step by step. */
  readonly ruinedLeap: number;
  /** Share of the initial reward that a ruined policy has left. */
  readonly ruinedShare: number;
  /** Nats per token from the initial policy that a ruined policy has at least. */
  readonly ruinedKl: number;
  /** A learning rate of so many times the algorithm's default is high. */
  readonly rateHigh: number;

  /** Steps without a trend that make a plateau of the training reward. */
  readonly jumpPlateau: number;
  /** Steps after the plateau that must all be high: one batch is not a jump. */
  readonly jumpSteps: number;
  /** The jump in standard errors; high, because long runs test it hundreds of times. */
  readonly jumpErrors: number;
  /** The jump in standard deviations of one reward, so that tiny steps of a steady run do not count. */
  readonly jumpReward: number;

  /** A mean reward that real tasks rarely reach; the maximum is 1. */
  readonly perfect: number;
  /** … for this many steps in a row: a single batch can be easy. */
  readonly perfectSteps: number;
  /** Minimum validation examples for a perfect score to be suspicious. */
  readonly perfectExamples: number;
  /** From this pass rate on, low entropy is expected. */
  readonly solved: number;
  /** The same where the reward has risen by this share of what was missing at the start. */
  readonly solving: number;
  /** … unless at least this share of the groups fails as a whole. */
  readonly stuckGroups: number;

  /** Share of the way from the initial value to "all outputs are the same": some tasks have few answers. */
  readonly repeated: number;
  /** Minimum share of the initial entropy; published collapses lose more, and so may successful runs. */
  readonly entropyShare: number;
  /** Nats per token below which the samples of a group are nearly identical. */
  readonly entropyLeast: number;
  /** The mean length may grow or shrink by this factor … */
  readonly lengthFactor: number;
  /** … or by this many tokens: short completions double easily. */
  readonly lengthTokens: number;
  /** Share of truncated completions. */
  readonly truncated: number;
  /** Rise of the share of n-grams that repeat an earlier one of the same completion. */
  readonly repetition: number;
  /** Nats per token: at 1 the policy's tokens are e times likelier than under the reference; null: none. */
  readonly kl: number | null;
  /**
   * Rows behind the KL where a step estimates it from a share of them; the default settings have them in
   * 5 steps. Measured with 8 of 64 rows a step, the median of 5 steps reached 2.5 times that of all
   * rows, the median of 20 steps 1.1 times.
   */
  readonly klRows: number;

  /** Share of groups without a gradient … */
  readonly zeroGroups: number;
  /** … for this many steps in a row; a share of 1 raises the alarm at once. */
  readonly zeroSteps: number;
  /** Updates after which an identical reference raises the alarm; one may be lost in rounding. */
  readonly aliasedSteps: number;
  /** Rows that must be identical, where a share is compared: a policy can be certain of a few prompts. */
  readonly aliasedRows: number;
  /** Float32 log-probs differ by about 1e-5; an off-by-one error gives whole nats. */
  readonly logprobGap: number;
  /** Nats per token: over 100 tokens 0.01 is already a factor e between the two distributions. */
  readonly samplingGap: number;
}

export const LIMITS: Limits = {
  ...DIVERGENCE_LIMITS,

  backwardsTrend: 4,
  backwardsWithin: 200,
  backwardsReward: 0.2,
  ruinedReward: 0.4,
  backwardsLoss: 1,

  ruinedLoss: 0.5,
  ruinedLossLeast: 0.5,
  ruinedLeap: 0.4,
  ruinedShare: 0.25,
  ruinedKl: 2,
  rateHigh: 5,

  jumpPlateau: 12,
  jumpSteps: 3,
  jumpErrors: 5,
  jumpReward: 0.4,

  perfect: 0.999,
  perfectSteps: 5,
  perfectExamples: 20,
  solved: 0.9,
  solving: 0.2,
  stuckGroups: 0.25,

  repeated: 0.5,
  entropyShare: 0.2,
  entropyLeast: 0.01,
  lengthFactor: 2,
  lengthTokens: 8,
  truncated: 0.25,
  repetition: 0.2,
  kl: 1,
  klRows: 160,

  zeroGroups: 0.9,
  zeroSteps: 5,
  aliasedSteps: 3,
  aliasedRows: 64,
  logprobGap: 1e-3,
  samplingGap: 0.01,
};
