/**
 * The verifier of this workspace: one line, `Final: <int>`, and nothing else. It starts as an exact
 * copy of the built-in math_final_line. Every command in this workspace scores with it, and every
 * manifest has the SHA-256 of this file. `IN_SPEC` is the whole rule; `diagnose` gives the codes.
 *
 * It must stay deterministic, total, explainable, fast and versioned. Change it in level 4 only.
 */

interface Example {
  readonly id: string;
  readonly prompt: string;
  readonly expected_answer?: unknown;
}

interface ScoreResult {
  readonly reward: number;
  readonly code: OutcomeCode;
  readonly details: Record<string, string>;
}

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
type OutcomeCode = (typeof OUTCOME_CODES)[number];
/** A result with any other code is a scorer error. */
export const codes = OUTCOME_CODES;
const OTHER_CLASSES: Partial<Record<OutcomeCode, string>> = {
  invalid_example: "data_invalid",
  wrong_answer: "model_math",
};
/** The kind of failure of each code but the last, as inspect-run shows it. */
export const classes = Object.fromEntries(
  OUTCOME_CODES.slice(0, -1).map((code) => [code, OTHER_CLASSES[code] ?? "model_format"]),
);

const IN_SPEC = /^[ \t\n\r\v\f]*Final: (0|-?[1-9][0-9]*)[ \t\n\r\v\f]*$/;
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const PREFIX = "Final:";

/** Scores one completion. Total: it returns a result for any arguments and never throws. */
export function score(example: Example, completion: string): ScoreResult {
  const expected = expectedInteger(example);
  if ("problem" in expected) return fail("invalid_example", expected.problem);
  const parsed = typeof completion === "string" ? IN_SPEC.exec(completion)?.[1] : undefined;
  if (parsed === undefined) return diagnose(completion);
  // Both are canonical decimals, so equal text means equal value at any size.
  return parsed === expected.integer
    ? { reward: 1, code: "ok", details: { parsed } }
    : { reward: 0, code: "wrong_answer", details: { parsed } };
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
    return undefined; // A getter that throws counts as a missing answer.
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

/** `trim` would also strip U+00A0 and other white space; the specification strips ASCII only. */
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
  const cut = text.length > width ? `${text.slice(0, width)}…` : text;
  return JSON.stringify(cut).replace(/[^\x20-\x7e…]/gu, (character) => `⟨${codePoint(character)}⟩`);
}

/** "U+00A0" for a character. */
function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

function kind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
