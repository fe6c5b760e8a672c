/** What a row gets for a grade, or for the lack of one. */

import { FORMAT_FAILURE, INVALID_EXAMPLE, type ScoreResult, ScorerFailure } from "../core/score.ts";
import { type Fault, faultDetails } from "./fault.ts";
import { type Grade, isFault } from "./opened.ts";

/** The sample cannot be read: its JSON, or a member of it. */
const UNREADABLE = "unreadable_sample";
/** With `azure_errors`: what is an error row otherwise. */
const ERROR_AS_ZERO = "error_as_zero";

export const FAULT_CODES = [UNREADABLE, INVALID_EXAMPLE];
export const AZURE_CODES = [UNREADABLE, ERROR_AS_ZERO];
export const FAULT_CLASSES = { [UNREADABLE]: FORMAT_FAILURE };

/** Throws `ScorerFailure` where the grader broke: a broken grader is an error row, never a zero. */
export function scoreOf(given: Grade | Fault, azureErrors: boolean): ScoreResult {
  if (!isFault(given)) {
    const { reward, code, details = {} } = given;
    return { reward, code, details };
  }
  const details = faultDetails(given);
  if (given.blame === "sample") return { reward: 0, code: UNREADABLE, details };
  if (azureErrors) return { reward: 0, code: ERROR_AS_ZERO, details };
  if (given.blame === "item") return { reward: 0, code: INVALID_EXAMPLE, details };
  throw new ScorerFailure(given.message, details);
}
