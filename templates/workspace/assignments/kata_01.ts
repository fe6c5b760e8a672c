/**
 * Level 0, the debugging kata: whose fault is an outcome? Give one of
 *   "model_math"    the format is right, the number is wrong
 *   "model_format"  the verifier could not read a number
 *   "data_invalid"  the example itself is broken
 *   "unknown"       anything else; guessing is not debugging
 */

export type FailureClass = "model_math" | "model_format" | "data_invalid" | "unknown";

export function classify(outcomeCode: string): FailureClass {
  throw new Error(
    `classify is yours to write (asked about ${outcomeCode}); see ./lockedroom level 0`,
  );
}
