/** The text of a scorer's file, with a rule to choose. */

/** The whole text is `Final: ` and the answer. */
export const STRICT =
  '(example, completion) => typeof completion === "string" && completion.trim() === "Final: " + example.expected_answer';

export interface ScorerText {
  /** An expression for a function of example and completion. */
  readonly rule?: string;
  readonly version?: string;
  readonly before?: string;
  /** In place of a reward by the rule. */
  readonly score?: string;
}

export function scorerText({ rule = STRICT, version = "1", before = "", score }: ScorerText = {}) {
  return `${before}
export const name = "last-line", version = "${version}", spec = "one line, Final: and the answer";
const rule = ${rule};
export function score(example, completion) {
  ${score ?? 'const good = rule(example, completion); return { reward: good ? 1 : 0, code: good ? "right" : "wrong", details: {} };'}
}
`;
}
