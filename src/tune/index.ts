export type { Finding, Place } from "./findings.ts";
export { LIMITS, TUNE_KINDS, type TuneKind, type TuneRole } from "./kinds.ts";
export { RULES, type RuleName, type Severity } from "./rules.ts";
export type { CountTokens } from "./token-count.ts";
export {
  type TokenFigures,
  type ValidateOptions,
  type Validation,
  validateFile,
} from "./validate.ts";
