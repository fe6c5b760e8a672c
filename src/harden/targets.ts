/** The examples of a data set with their answers as text, and answers that are wrong for them. */

import type { Example } from "../core/records.ts";
import type { Target } from "./attack.ts";
import { lettersOf, plainText } from "./readings.ts";

const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/** Undefined where the example states no answer. */
export function targetOf(example: Example): Target | undefined {
  const { expected_answer: expected } = example;
  if (expected === undefined || expected === null) return undefined;
  const answer = typeof expected === "string" ? expected : JSON.stringify(expected);
  if (answer === "") return undefined;
  return { example, answer, value: DECIMAL.test(answer) ? Number(answer) : null };
}

/** Whether two answers differ for any reader. */
export function differ(a: Target, b: Target): boolean {
  if (a.value !== null && b.value !== null) return a.value !== b.value;
  const [one, other] = [a, b].map(({ answer }) => lettersOf(plainText(answer))) as [string, string];
  return one !== other && !one.includes(other) && !other.includes(one);
}

/** Answers that are wrong: neighbours of a number, and the answers of other examples. */
export function wrongAnswers(target: Target, others: readonly Target[]): string[] {
  const { answer, value } = target;
  const borrowed = others.slice(0, 2).map((other) => other.answer);
  if (value === null) return borrowed.length > 0 ? borrowed : [`not-${answer.length}-this`];
  const near = isSafe(answer) ? [value + 1, value - 1].map(String) : [`${answer}1`];
  const opposite = value === 0 ? [] : [answer.startsWith("-") ? answer.slice(1) : `-${answer}`];
  return [...near, ...opposite, ...borrowed];
}

function isSafe(answer: string): boolean {
  return Number.isSafeInteger(Number(answer)) && !answer.includes(".");
}
