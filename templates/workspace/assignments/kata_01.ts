/**
 * Level 0, the debugging kata: what kind of failure is an outcome code? Return one of
 *   "model_math"    the format is right, the number is wrong
 *   "model_format"  the verifier could not read a number
 *   "data_invalid"  the example itself is broken
 *   "unknown"       anything else
 *
 * The codes of a verdict on a completion, in the order in which they are checked:
 *   invalid_example       the example has no usable expected answer
 *   not_single_line, missing_prefix, extra_whitespace, missing_integer, plus_sign_disallowed,
 *   missing_digits, non_digit_characters, negative_zero_disallowed, leading_zeros
 *                         the format is wrong
 *   wrong_answer          another number
 *   ok                    the reward is 1: no failure, so "unknown"
 * This is all you need. Leave scoring.ts closed until level 4, which asks what you expect of it.
 */

export type FailureClass = "model_math" | "model_format" | "data_invalid" | "unknown";

export function classify(outcomeCode: string): FailureClass {
  void outcomeCode;
  throw new Error("classify is not written yet; see level 0");
}
