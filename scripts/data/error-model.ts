/**
 * A scripted substitute for a small language model: right with a given probability, and otherwise
 * wrong in the arithmetic or in the format, with errors typical for such models.
 */

import { type Rng, rngAt } from "../../src/core/rng.ts";
import {
  answerOf,
  expressionOf,
  type Kind,
  keyOf,
  type Problem,
} from "../../src/datasets/problems.ts";

const SEED = "arithmetic error model 1";

export interface Utterance {
  readonly completion: string;
  readonly sum_logprob: number;
  /** The log-prob of the text under the untrained reference. */
  readonly sum_ref_logprob: number;
}

/** The range of success probability within a kind, apart from the problems that always fail. */
const SKILL: Record<Kind, readonly [low: number, high: number]> = {
  addition: [0.35, 0.8],
  subtraction: [0.25, 0.7],
  multiplication: [0.25, 0.75],
  two_step: [0.1, 0.55],
};
const HOPELESS_SHARE = 0.08;

/** The probability that one sample for this problem is right; fixed per problem. */
export function skillOf(problem: Problem): number {
  const rng = rngAt(SEED, "skill", keyOf(problem));
  const [low, high] = SKILL[problem.form.kind];
  const skill = low + (high - low) * rng.next();
  return rng.next() < HOPELESS_SHARE ? 0.02 : skill;
}

export function utter(problem: Problem, skill: number, rng: Rng): Utterance {
  const correct = rng.next() < skill;
  const completion = correct
    ? pick(WELL_FORMED, rng)(answerOf(problem))
    : rng.next() < 0.4
      ? `Final: ${miscalculate(problem, rng)}`
      : pick(pick(formatSlips(problem, rng), rng), rng);
  return { completion, ...logprobs(completion, correct, rng) };
}

const plain = (answer: number) => `Final: ${answer}`;
const WELL_FORMED: readonly ((answer: number) => string)[] = [
  ...Array<typeof plain>(8).fill(plain),
  (answer) => `Final: ${answer}\n`,
  (answer) => ` Final: ${answer}`,
];

/** A plausible wrong integer: a lost carry, a sign, reversed digits, the wrong operation. */
function miscalculate(problem: Problem, rng: Rng): number {
  const answer = answerOf(problem);
  const candidates = [
    answer + 1,
    answer - 1,
    answer + 10,
    answer - 10,
    -answer,
    reverseDigits(answer),
    otherOperation(problem),
    leftToRight(problem),
    answer + (problem.operands[0] ?? 0),
  ];
  const wrong = candidates.filter((candidate) => candidate !== answer);
  return pick(wrong, rng);
}

function reverseDigits(answer: number): number {
  const digits = [...String(Math.abs(answer))].reverse().join("");
  return Math.sign(answer) * Number(digits);
}

function otherOperation({ form, operands }: Problem): number {
  const operators = form.operators.map((operator) => (operator === "+" ? "-" : "+"));
  return answerOf({ form: { ...form, operators }, operands });
}

function leftToRight({ form, operands }: Problem): number {
  return operands.reduce((value, operand, i) => {
    const operator = form.operators[i - 1];
    return operator === "*"
      ? value * operand
      : operator === "-"
        ? value - operand
        : value + operand;
  });
}

/** Right and wrong answers in a wrong format, one group for each kind of error. */
function formatSlips(problem: Problem, rng: Rng): string[][] {
  const answer = answerOf(problem);
  const expression = expressionOf(problem);
  const wrong = miscalculate(problem, rng);
  const size = Math.abs(answer);
  const minus = answer < 0 ? "-" : "";
  return [
    [
      `${expression} = ${answer}\nFinal: ${answer}`,
      `Final: ${answer}\nFinal: ${wrong}`,
      `Let me go step by step.\n${expression} = ${answer}\n\nFinal: ${answer}`,
      `Final: ${answer}\n\nI am confident in this result.`,
    ],
    [
      `The answer is ${answer}.`,
      `${answer}`,
      `final: ${answer}`,
      `Answer: ${answer}`,
      `**Final: ${answer}**`,
      `${expression} = ${answer}`,
      "I am not sure.",
      "",
    ],
    [`Final:  ${answer}`, `Final: \t${answer}`, `Final:   ${wrong}`],
    ["Final:", "Final: "],
    answer < 0 ? ["Final: -"] : answer > 0 ? [`Final: +${answer}`] : ["Final: -0", "Final: +0"],
    [
      `Final: ${answer}.`,
      `Final: ${answer}.0`,
      `Final: <${answer}>`,
      `Final: ${expression} = ${answer}`,
      `Final: ${answer} or ${wrong}`,
      `Final: \\boxed{${answer}}`,
    ],
    answer === 0 ? ["Final: -0"] : [`Final: ${minus}0${size}`, `Final: ${minus}00${size}`],
  ];
}

/** Longer texts and wrong ones are less likely; the two ranges overlap on purpose. */
function logprobs(completion: string, correct: boolean, rng: Rng): Omit<Utterance, "completion"> {
  const tokens = Math.ceil((completion.length + 1) / 3);
  const perToken = correct ? 0.04 + 0.4 * rng.next() : 0.12 + 0.6 * rng.next();
  const drift = 0.75 + 0.65 * rng.next();
  return {
    sum_logprob: fourDecimals(-tokens * perToken),
    sum_ref_logprob: fourDecimals(-tokens * perToken * drift),
  };
}

function fourDecimals(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function pick<T>(items: readonly T[], rng: Rng): T {
  return items[rng.below(items.length)] as T;
}
