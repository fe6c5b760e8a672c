/** The score of the inspected text. */

import { usageError } from "../../core/errors.ts";
import { INVALID_EXAMPLE } from "../../core/score.ts";
import { visibleShort } from "../../core/visible.ts";
import { mathFinalLine } from "../../scorers/math-final-line.ts";

export type TextScore = ReturnType<typeof scoreText>;

/** Without an expected answer, the parsed answer is taken as the expected one. */
export function scoreText(text: string, expected: string | undefined) {
  const against = (answer: string) =>
    mathFinalLine.score({ id: "", prompt: "", expected_answer: answer }, text);
  const first = against(expected ?? "0");
  const { parsed, message } = first.details as { parsed?: string; message?: string };
  const { code, reward } = expected === undefined && parsed !== undefined ? against(parsed) : first;
  return {
    scorer: { name: mathFinalLine.name, version: mathFinalLine.version },
    in_spec: parsed !== undefined,
    code,
    reason: message ?? reasonFor(parsed ?? "", expected),
    class: mathFinalLine.classes[code] ?? null,
    parsed: parsed ?? null,
    expected: expected ?? null,
    reward: expected === undefined ? null : reward,
  };
}

function reasonFor(parsed: string, expected: string | undefined): string {
  if (expected !== undefined && parsed !== expected) {
    return `parsed ${visibleShort(parsed, 40)}, expected ${visibleShort(expected, 40)}`;
  }
  return 'one line, "Final: " and an integer, and nothing else';
}

/** Accepts what the scorer accepts as an expected answer. */
export function checkedInteger(text: string): string {
  const { code } = mathFinalLine.score({ id: "", prompt: "", expected_answer: text }, "");
  if (code !== INVALID_EXAMPLE) return text;
  throw usageError(
    `--expect "${visibleShort(text, 30)}" is not a plain integer`,
    "Use digits as in 323, -7 or 0: no plus sign, no leading zeros, no spaces.",
  );
}
