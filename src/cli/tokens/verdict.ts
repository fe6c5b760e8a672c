/** What the verifier says about the text. */

import { usageError } from "../../core/errors.ts";
import { visibleShort } from "../../core/visible.ts";
import {
  classify,
  type FailureClass,
  SCORER_NAME,
  SCORER_VERSION,
  score,
} from "../../scorers/math-final-line.ts";

export interface Verdict {
  readonly scorer: { readonly name: string; readonly version: string };
  readonly in_spec: boolean;
  /** Without an expected answer: as if the answer that was read were it. */
  readonly code: string;
  readonly reason: string;
  /** Null when nothing is wrong. */
  readonly class: FailureClass | null;
  readonly parsed: string | null;
  readonly expected: string | null;
  readonly reward: number | null;
}

export function judge(text: string, expected: string | undefined): Verdict {
  const about = (answer: string) => score({ id: "", prompt: "", expected_answer: answer }, text);
  const first = about(expected ?? "0");
  const { parsed, message } = first.details as { parsed?: string; message?: string };
  const { code, reward } = expected === undefined && parsed !== undefined ? about(parsed) : first;
  return {
    scorer: { name: SCORER_NAME, version: SCORER_VERSION },
    in_spec: parsed !== undefined,
    code,
    reason: message ?? reasonFor(parsed ?? "", expected),
    class: code === "ok" ? null : classify(code),
    parsed: parsed ?? null,
    expected: expected ?? null,
    reward: expected === undefined ? null : reward,
  };
}

function reasonFor(parsed: string, expected: string | undefined): string {
  if (expected !== undefined && parsed !== expected) {
    return `${visibleShort(parsed, 40)} was read, ${visibleShort(expected, 40)} is expected`;
  }
  return 'one line, "Final: " and an integer, and nothing else';
}

/** The verifier itself says what an expected answer may be. */
export function checkedInteger(text: string): string {
  if (score({ id: "", prompt: "", expected_answer: text }, "").code !== "invalid_example") {
    return text;
  }
  throw usageError(
    `--expect "${visibleShort(text, 30)}" is not a plain integer`,
    "Write it as 323, -7 or 0: digits, no plus sign, no leading zeros, no spaces.",
  );
}
