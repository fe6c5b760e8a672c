/**
 * The strict verifier: one line, `Final: <int>`, and nothing else. `IN_SPEC` is the whole rule;
 * everything below `diagnose` only explains why a completion is not in it.
 */

import type { Example } from "../core/records.ts";
import { FORMAT_FAILURE, type ScoreResult, type Scorer } from "../core/score.ts";
import { codePoint, visibleShort } from "../core/visible.ts";

export const SCORER_NAME = "math_final_line";
export const SCORER_VERSION = "1.0.0";
export const REWARD_SPEC = [
  "After stripping ASCII white space at both ends the completion is exactly one line: `Final: `",
  "(one space), then an optional `-` and ASCII digits. No plus sign, no leading zeros, no negative",
  "zero, nothing else. Reward 1 if that integer equals expected_answer, otherwise 0.",
].join(" ");

/** In the order in which they are checked. */
export const OUTCOME_CODES = [
  "invalid_example",
  "not_single_line",
  "missing_prefix",
  "extra_whitespace",
  "missing_integer",
  "plus_sign_disallowed",
  "missing_digits",
  "non_digit_characters",
  "negative_zero_disallowed",
  "leading_zeros",
  "wrong_answer",
  "ok",
] as const;
export type OutcomeCode = (typeof OUTCOME_CODES)[number];

const IN_SPEC = /^[ \t\n\r\v\f]*Final: (0|-?[1-9][0-9]*)[ \t\n\r\v\f]*$/;
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const PREFIX = "Final:";

/** Scores one completion. Total: any value for either argument gives an answer, never a throw. */
export function score(example: Example, completion: string): ScoreResult {
  const expected = expectedInteger(example);
  if ("problem" in expected) return fail("invalid_example", expected.problem);
  const parsed = typeof completion === "string" ? IN_SPEC.exec(completion)?.[1] : undefined;
  if (parsed === undefined) return diagnose(completion);
  // Both sides are canonical decimals, so equal text is equal value at any size.
  return parsed === expected.integer
    ? { reward: 1, code: "ok", details: { parsed } }
    : { reward: 0, code: "wrong_answer", details: { parsed } };
}

/**
 * The strict verifier: the whole completion is the one line `Final: <integer>`, and the integer is the expected
 * one.
 *
 * @example
 * ```ts
 * import { mathFinalLine } from "lockedroom";
 *
 * const example = { id: "a", prompt: "Compute 2 + 2.", expected_answer: 4 };
 * console.log(mathFinalLine.score(example, "Final: 4").code); // ok
 * ```
 */
export const mathFinalLine = {
  name: SCORER_NAME,
  version: SCORER_VERSION,
  spec: REWARD_SPEC,
  codes: OUTCOME_CODES,
  classes: Object.fromEntries(
    OUTCOME_CODES.filter((code) => code !== "ok").map((code) => [code, classify(code)]),
  ),
  score,
} satisfies Scorer;

/** Whose fault an outcome is. */
export type FailureClass = "model_math" | typeof FORMAT_FAILURE | "data_invalid" | "unknown";

export function classify(code: string): FailureClass {
  if (code === "wrong_answer") return "model_math";
  if (code === "invalid_example") return "data_invalid";
  if (code === "ok" || !OUTCOME_CODES.includes(code as OutcomeCode)) return "unknown";
  return FORMAT_FAILURE;
}

function expectedInteger(example: unknown): { integer: string } | { problem: string } {
  const value = readExpected(example);
  if (typeof value === "string") {
    if (INTEGER.test(value)) return { integer: value };
    return { problem: `expected_answer ${shown(value)} is not a plain decimal integer` };
  }
  if (typeof value !== "number") {
    return {
      problem: `expected_answer must be an integer or a decimal string, found ${kind(value)}`,
    };
  }
  if (Number.isSafeInteger(value)) return { integer: String(value) };
  return {
    problem: Number.isInteger(value)
      ? `expected_answer ${value} is outside the safe integer range, so its exact value was lost when the file was read; write it as a string`
      : `expected_answer ${value} is not an integer`,
  };
}

function readExpected(example: unknown): unknown {
  try {
    return (example as { expected_answer?: unknown } | null | undefined)?.expected_answer;
  } catch {
    return undefined; // A getter that throws has given no answer.
  }
}

function diagnose(completion: unknown): ScoreResult {
  if (typeof completion !== "string") {
    return fail("missing_prefix", `the completion is ${kind(completion)}, not text`);
  }
  const text = stripAscii(completion);
  const lineBreak = LINE_BREAK.exec(text);
  if (lineBreak) {
    return fail(
      "not_single_line",
      `line break ${codePoint(lineBreak[0])} at character ${lineBreak.index}`,
    );
  }
  if (!text.startsWith(PREFIX)) {
    return fail("missing_prefix", `starts with ${shown(text, 24)}, not "Final: "`);
  }
  return diagnoseInteger(text.slice(PREFIX.length));
}

function diagnoseInteger(rest: string): ScoreResult {
  if (rest === "") return fail("missing_integer", 'nothing follows "Final:"');
  if (/^(?: \s|[^\S ])/.test(rest)) {
    return fail(
      "extra_whitespace",
      `${shown(/^\s+/.exec(rest)?.[0] ?? "")} where one space belongs`,
    );
  }
  if (!rest.startsWith(" ")) return fail("missing_prefix", 'no space after "Final:"');
  const integer = rest.slice(1);
  if (integer.startsWith("+"))
    return fail("plus_sign_disallowed", `${shown(integer)} has a plus sign`);
  const digits = integer.startsWith("-") ? integer.slice(1) : integer;
  if (digits === "") return fail("missing_digits", "a minus sign without digits");
  const foreign = /[^0-9]/u.exec(digits);
  if (foreign) {
    return fail(
      "non_digit_characters",
      `${shown(foreign[0])} (${codePoint(foreign[0])}) is not an ASCII digit`,
    );
  }
  if (integer.startsWith("-") && /^0+$/.test(digits)) {
    return fail("negative_zero_disallowed", `${shown(integer)} is a negative zero`);
  }
  return fail("leading_zeros", `${shown(integer)} has leading zeros`);
}

/** White space as `trim` knows it would also drop U+00A0 and friends; the spec strips ASCII only. */
function stripAscii(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start++;
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isAsciiSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

function fail(code: OutcomeCode, message: string): ScoreResult {
  return { reward: 0, code, details: { message } };
}

function shown(text: string, width = 40): string {
  return `"${visibleShort(text, width)}"`;
}

function kind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
