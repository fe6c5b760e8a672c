/**
 * Level 0, the debugging kata: what kind of failure is an outcome code? Return one of
 *   "model_math"    the format is right, the number is wrong
 *   "model_format"  the verifier could not read a number
 *   "data_invalid"  the example itself is broken
 *   "unknown"       anything else
 */

export type FailureClass = "model_math" | "model_format" | "data_invalid" | "unknown";

export function classify(outcomeCode: string): FailureClass {
  throw new Error(`write classify first (called with ${outcomeCode}); see ./lockedroom level 0`);
}
