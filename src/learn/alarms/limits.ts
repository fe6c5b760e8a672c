/** When an alarm goes off. Every threshold has a name, a default and a reason. */

export interface Limits {
  /** Steps whose mean stands for "now" and for "the start": one batch is too noisy. */
  readonly window: number;
  /** Level of "validation fell", shared among all pairs of evaluations: a false stop is dear. */
  readonly level: number;
  /** Least fall of the validation reward: below it a checkpoint is as good as another. */
  readonly fall: number;
  /** Level of what stops nothing: validation rose, is flat, and what the reward did while it fell. */
  readonly sure: number;
  /** A rise of the validation reward below this is not worth a longer run. */
  readonly matters: number;
  /** Evaluations after the best one before "flat" may be said; fewer cannot be halved and compared. */
  readonly flatEvaluations: number;
  /** Mann–Kendall z of a reward that rises while validation is flat: looked at after each evaluation. */
  readonly rewardTrend: number;
  /** Fewest steps of a trend: below 8 even a perfect order can be luck. */
  readonly trendSteps: number;
  /** Ends the run after so many evaluations not better than the best by more than delta; null: never. */
  readonly plateau: { readonly evaluations: number; readonly delta: number } | null;

  /** Mann–Kendall z of learning backwards: looked at after each step, so stricter than a single test. */
  readonly backwardsTrend: number;
  /** Later falls than in the first steps have other causes than a wrong sign. */
  readonly backwardsWithin: number;
  /** Least fall of the mean reward, in standard deviations of one reward: whatever its scale. */
  readonly backwardsReward: number;
  /** The same where all rewards have become equal: with rare rewards that happens by chance. */
  readonly ruinedReward: number;
  /** Least rise of a loss, as a share of the first: small losses move by large shares. */
  readonly backwardsLoss: number;

  /** Steps without a trend that make a plateau of the training reward. */
  readonly jumpPlateau: number;
  /** Steps after the plateau that must all be high: one lucky batch is no jump. */
  readonly jumpSteps: number;
  /** The jump in standard errors: a run of hundreds of steps has hundreds of chances. */
  readonly jumpErrors: number;
  /** The jump in standard deviations of one reward: a steady run makes tiny steps look sharp. */
  readonly jumpReward: number;

  /** A mean reward that real tasks hardly reach; the full mark is 1. */
  readonly perfect: number;
  /** … for so many steps in a row: a batch can be easy. */
  readonly perfectSteps: number;
  /** Fewest validation examples for a full score to be surprising. */
  readonly perfectExamples: number;
  /** From this share of passes on, a policy that is sure of itself is what was asked for. */
  readonly solved: number;

  /** Share of the way from the start to "all outputs are the same": some tasks have few answers. */
  readonly repeated: number;
  /** Share of the entropy at the start that must be left; published collapses lose more, as may success. */
  readonly entropyShare: number;
  /** Nats per token below which samples of a group are copies of each other. */
  readonly entropyLeast: number;
  /** The mean length may grow or shrink by this factor … */
  readonly lengthFactor: number;
  /** … or by this many tokens: short answers double easily. */
  readonly lengthTokens: number;
  /** Share of completions cut off, which cannot be judged as their author meant them. */
  readonly truncated: number;
  /** Nats per token: at 1 the policy's tokens are e times likelier than under the reference; null: none. */
  readonly kl: number | null;

  /** Share of groups without a gradient … */
  readonly zeroGroups: number;
  /** … for so many steps in a row; a share of 1 is told at once. */
  readonly zeroSteps: number;
  /** Updates after which a reference that never differs is no reference; one may be lost in rounding. */
  readonly aliasedSteps: number;
  /** Two ways to compute one log-prob in float32 differ by 1e-5; an off-by-one by whole nats. */
  readonly logprobGap: number;
  /** Nats per token: over 100 tokens 0.01 is already a factor e between the two distributions. */
  readonly samplingGap: number;
}

export const LIMITS: Limits = {
  window: 5,
  level: 0.01,
  fall: 0.04,
  sure: 0.05,
  matters: 0.03,
  flatEvaluations: 6,
  rewardTrend: 3.5,
  trendSteps: 8,
  plateau: null,

  backwardsTrend: 4,
  backwardsWithin: 200,
  backwardsReward: 0.2,
  ruinedReward: 0.4,
  backwardsLoss: 1,

  jumpPlateau: 12,
  jumpSteps: 3,
  jumpErrors: 5,
  jumpReward: 0.4,

  perfect: 0.999,
  perfectSteps: 5,
  perfectExamples: 20,
  solved: 0.9,

  repeated: 0.5,
  entropyShare: 0.2,
  entropyLeast: 0.01,
  lengthFactor: 2,
  lengthTokens: 8,
  truncated: 0.25,
  kl: 1,

  zeroGroups: 0.9,
  zeroSteps: 5,
  aliasedSteps: 3,
  logprobGap: 1e-3,
  samplingGap: 0.01,
};
