/** One arithmetic problem: the judge computes it itself, since the request does not have the answer. */

import { type Attempt, promptOf, replyOf } from "../attempt.ts";
import type { Criterion, JudgedTask } from "../criterion.ts";

const PROBLEM = /^Compute ([-\d+* ]+)\. Reply: Final: <int>$/;

const right: Criterion = {
  line: "The answer is right.",
  short: "right answer",
  weight: 3,
  measure: (attempt) => (answerOf(attempt) === resultOf(promptOf(attempt)) ? 1 : 0),
};

const form: Criterion = {
  line: "The answer is one line of the form Final: <int>.",
  short: "form",
  measure: (attempt) => (answerOf(attempt) === undefined ? 0 : 1),
};

export const arithmetic: JudgedTask = {
  name: "arithmetic",
  recognises: (attempt) => PROBLEM.test(promptOf(attempt)),
  catalogue: [right, form],
  goal: [right, form],
};

function answerOf(attempt: Attempt): number | undefined {
  const [, number] = /^Final: (-?\d+)$/.exec(replyOf(attempt)) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Whole numbers with +, - and *; products first. */
function resultOf(prompt: string): number {
  const [, expression = ""] = PROBLEM.exec(prompt) ?? [];
  const terms = ` + ${expression}`.split(/ (?=[+-] )/).filter((term) => term.trim() !== "");
  return terms.reduce((sum, term) => {
    const factors = term.trim().slice(1).split("*").map(Number);
    const product = factors.reduce((all, factor) => all * factor, 1);
    return term.trim().startsWith("-") ? sum - product : sum + product;
  }, 0);
}
