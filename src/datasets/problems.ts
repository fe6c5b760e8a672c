/** The arithmetic task: which problems exist, what they ask, and when two are the same problem. */

import type { Rng } from "../core/rng.ts";

export const KINDS = ["addition", "subtraction", "multiplication", "two_step"] as const;
export type Kind = (typeof KINDS)[number];
export type Operator = "+" | "-" | "*";
export type Sign = "negative" | "zero" | "positive";

/** A family of problems: every choice of operands from the ranges (both ends included). */
export interface Form {
  readonly kind: Kind;
  readonly operators: readonly Operator[];
  readonly ranges: readonly (readonly [low: number, high: number])[];
  /** How many problems with each sign of the answer a held-out split takes. */
  readonly quota: Readonly<Record<Sign, number>>;
}

export interface Problem {
  readonly form: Form;
  readonly operands: readonly number[];
}

const TWO_DIGITS = [10, 99] as const;
const SMALL = [1, 30] as const;
const FACTOR = [2, 9] as const;
/** The 12 x 12 table with signs: unsigned it has too few products for two splits and training. */
const TABLE = [-12, 12] as const;

const quota = (negative: number, zero: number, positive: number) => ({ negative, zero, positive });
const form = (
  kind: Kind,
  operators: readonly Operator[],
  ranges: Form["ranges"],
  take: Form["quota"],
): Form => ({ kind, operators, ranges, quota: take });

/** Quotas add up to 60 for each kind, so a split has 240 examples. */
export const FORMS: readonly Form[] = [
  form("addition", ["+"], [TWO_DIGITS, TWO_DIGITS], quota(0, 0, 60)),
  form("subtraction", ["-"], [TWO_DIGITS, TWO_DIGITS], quota(26, 8, 26)),
  form("multiplication", ["*"], [TABLE, TABLE], quota(24, 6, 30)),
  form("two_step", ["+", "+"], [SMALL, SMALL, SMALL], quota(0, 0, 6)),
  form("two_step", ["+", "-"], [SMALL, SMALL, SMALL], quota(3, 1, 4)),
  form("two_step", ["-", "+"], [SMALL, SMALL, SMALL], quota(3, 1, 4)),
  form("two_step", ["-", "-"], [SMALL, SMALL, SMALL], quota(5, 1, 2)),
  form("two_step", ["*", "+"], [FACTOR, FACTOR, SMALL], quota(0, 0, 7)),
  form("two_step", ["*", "-"], [FACTOR, FACTOR, SMALL], quota(2, 1, 5)),
  form("two_step", ["+", "*"], [SMALL, FACTOR, FACTOR], quota(0, 0, 7)),
  form("two_step", ["-", "*"], [SMALL, FACTOR, FACTOR], quota(6, 1, 1)),
];

/** Every problem of a form, in a fixed order. */
export function* problemsOf(form: Form): Generator<Problem> {
  for (const operands of tuples(form.ranges)) yield { form, operands };
}

/** One problem of a form, uniformly. */
export function sampleProblem(form: Form, rng: Rng): Problem {
  const operands = form.ranges.map(([low, high]) => low + rng.below(high - low + 1));
  return { form, operands };
}

export function expressionOf({ form, operands }: Problem): string {
  return operands
    .map((operand, i) => (i === 0 ? `${operand}` : `${form.operators[i - 1]} ${operand}`))
    .join(" ");
}

export function promptOf(problem: Problem): string {
  return `Compute ${expressionOf(problem)}. Reply: Final: <int>`;
}

export function answerOf(problem: Problem): number {
  return termsOf(problem).reduce((sum, { sign, factors }) => {
    const product = factors.reduce((a, b) => a * b);
    return sign === "+" ? sum + product : sum - product;
  }, 0);
}

export function signOf(problem: Problem): Sign {
  const answer = answerOf(problem);
  return answer < 0 ? "negative" : answer > 0 ? "positive" : "zero";
}

/** Equal for problems that differ only in the order of summands or factors. */
export function keyOf(problem: Problem): string {
  return termsOf(problem)
    .map(({ sign, factors }) => sign + factors.sort((a, b) => a - b).join("*"))
    .sort()
    .join("");
}

interface Term {
  readonly sign: "+" | "-";
  readonly factors: number[];
}

/** The grammar: a sum of signed products. */
function termsOf({ form, operands }: Problem): Term[] {
  const terms: Term[] = [];
  for (const [i, operand] of operands.entries()) {
    const operator = i === 0 ? "+" : (form.operators[i - 1] as Operator);
    if (operator === "*") terms.at(-1)?.factors.push(operand);
    else terms.push({ sign: operator, factors: [operand] });
  }
  return terms;
}

function* tuples(ranges: Form["ranges"]): Generator<number[]> {
  const [first, ...rest] = ranges;
  if (first === undefined) {
    yield [];
    return;
  }
  for (let value = first[0]; value <= first[1]; value++) {
    for (const tail of tuples(rest)) yield [value, ...tail];
  }
}
