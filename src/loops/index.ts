export { type EvalOptions, type EvalOutcome, evaluate } from "./eval.ts";
export {
  type GoldenReport,
  type GoldenVerdict,
  type ProbeFailure,
  type ValidateOptions,
  validateScorer,
} from "./validate.ts";
