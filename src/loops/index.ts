export type { Axis } from "./axes.ts";
export {
  compareCodePoints,
  firstValid,
  majorityVote,
  pickBest,
  RULES,
  type RuleName,
  type ScoredSample,
  type TieBreakKey,
  tieBreakKey,
} from "./decide.ts";
export type { EpisodeOptions } from "./episodes.ts";
export { type EvalOptions, evaluate } from "./eval.ts";
export { type EvalTrajectoriesOptions, evaluateTrajectories } from "./eval-trajectories.ts";
export { type GatherOptions, gatherGroups } from "./gather.ts";
export {
  baselineOf,
  type Cell,
  type CellDone,
  cellsOf,
  type MatrixOptions,
  runMatrix,
} from "./matrix.ts";
export {
  choosePairs,
  PAIR_RULES,
  type PairCandidate,
  type PairRule,
  type PairSettings,
  type Preference,
} from "./preference-choice.ts";
export { type FinishedPairs, makePairs, type PairsOptions } from "./preference-pairs.ts";
export { type RolloutOptions, rollout } from "./rollout.ts";
export { type RolloutEpisodesOptions, rolloutEpisodes } from "./rollout-episodes.ts";
export type { ScoringOptions } from "./scoring-run.ts";
export { type SelectOptions, select } from "./select.ts";
export { type SelectTrajectoriesOptions, selectTrajectories } from "./select-trajectories.ts";
export { builtInPolicy, loadSelectionPolicy, type SelectionPolicy } from "./selection-policy.ts";
export { selectionSentence } from "./selection-tally.ts";
export type { StatedProvenance } from "./stated.ts";
export { Tally } from "./tally.ts";
export {
  type GoldenReport,
  type GoldenVerdict,
  type ProbeFailure,
  type ProbeKind,
  type ValidateOptions,
  validateScorer,
  validationReport,
} from "./validate.ts";
