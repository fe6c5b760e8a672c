export type { Algorithm } from "./algorithm.ts";
export { ALGORITHMS, algorithmOf } from "./algorithms/index.ts";
export type { TrainedPolicy, TrainOptions } from "./options.ts";
export { type TrainSettings, trainSettings } from "./settings.ts";
export * from "./tabular/bandit.ts";
export {
  type BanditRunOptions,
  banditSentence,
  compareBaselines,
  diagnoseLearningRate,
  runBandit,
} from "./tabular/bandit-run.ts";
export {
  type Experiment,
  episodeRow,
  rewardIdentity,
  writeExperiment,
} from "./tabular/experiment.ts";
export * from "./tabular/goodhart.ts";
export {
  type GoodhartFindings,
  type GoodhartRunOptions,
  runGoodhart,
} from "./tabular/goodhart-run.ts";
export * from "./tabular/kl-penalty.ts";
export { type KlTradeoffRunOptions, klSentence, runKlTradeoff } from "./tabular/kl-penalty-run.ts";
export { experimentSource } from "./tabular/registry.ts";
export type { Reward } from "./tabular/reward.ts";
export * from "./tabular/softmax.ts";
export * from "./tabular/two-step.ts";
export { runTwoStep, type TwoStepRunOptions, twoStepSentence } from "./tabular/two-step-run.ts";
export { train } from "./train.ts";
export { rateAt, type Schedule } from "./update.ts";
