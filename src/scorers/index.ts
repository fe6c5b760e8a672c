export { codeOf, currentCode, DEFAULT_SCORER, type LoadedScorer, loadScorer } from "./load.ts";
export {
  classify,
  type FailureClass,
  mathFinalLine,
  OUTCOME_CODES,
  type OutcomeCode,
  REWARD_SPEC,
  SCORER_NAME,
  SCORER_VERSION,
  score,
} from "./math-final-line.ts";
export {
  type AnyScorer,
  DEFAULT_CONCURRENCY,
  DEFAULT_TIMEOUT_MS,
  type OpenScorerOptions,
  openScorer,
  withScorer,
} from "./open.ts";
