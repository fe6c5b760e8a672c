// The training texts of π₀: problems that are disjoint from dev and holdout, with right answers in a
// mixture of formats. Fewer than half are in the required format.
import { closeSync, openSync, writeSync } from "node:fs";
import { rngAt } from "lockedroom";
import {
  answerOf,
  expressionOf,
  promptOf,
  sampleProblem,
  sampleTrainProblem,
  splitOf,
} from "lockedroom/datasets";

const SEED = "pi0 texts 4";

/** How many texts each stage has, and how it learns from them. */
export const STAGES = [
  { texts: 600_000, steps: 20_000, lr: 0.003, warmup: 200, decay: 0.05 },
  { texts: 100_000, steps: 1000, lr: 0.0003, warmup: 20, decay: 0 },
];

const IN_SPEC = (n) => `Final: ${n}`;
const LEADING_ZERO = (n) => `Final: ${n < 0 ? "-0" : "0"}${Math.abs(n)}`;
const PLUS = (n) => (n < 0 ? `Final: ${n}.` : `Final: +${n}`);

/** Formats of the two stages, with their share in percent. */
const FORMATS = {
  // Rarely used, so that the policy has seen every character.
  1: [
    [44, IN_SPEC],
    [8, (n) => `Final:  ${n}`],
    [7, (n) => `${n}`],
    [6, (n) => `Final:${n}`],
    [5, (n) => `The answer is ${n}.`],
    [6, (n, { sum }) => `${sum} = ${n}\nFinal: ${n}`],
    [5, LEADING_ZERO],
    [5, PLUS],
    [4, (n) => `Final: ${n}.`],
    [3, (n, { slip, first }) => `Final: ${first ? n : n + slip} or ${first ? n + slip : n}`],
    [5, (n) => `Final: ${n - 1}, ${n} or ${n + 1}`],
    [2, () => "Final:"],
  ],
  // Most deviations come after the number, where they do not affect the arithmetic.
  2: [
    [40, IN_SPEC],
    [13, (n) => `Final: ${n}.`],
    [9, (n, { sum }) => `Final: ${n} = ${sum}`],
    [6, (n, { slip }) => `Final: ${n} or ${n + slip}`],
    [9, (n) => `Final: ${n}, ${n + 1} or ${n - 1}`],
    [4, (n) => `Final:  ${n}`],
    [4, (n) => `${n}`],
    [4, (n) => `Final:${n}`],
    [4, (n) => `The answer is ${n}.`],
    [3, PLUS],
    [2, LEADING_ZERO],
    [2, () => "Final:"],
  ],
};

const product = (...ranges) => ({ kind: "multiplication", operators: ["*"], ranges });

/** A problem of a form that dev and holdout have too, with their frequencies of signs. */
const like = (wanted) => (rng) => {
  for (;;) {
    const problem = sampleTrainProblem(rng);
    if (wanted(problem.form)) return problem;
  }
};

/** A problem of a wider form; those of dev and holdout are left out here too. */
const wider = (form) => (rng) => {
  for (;;) {
    const problem = sampleProblem(form, rng);
    if (splitOf(problem) === "train") return problem;
  }
};

/**
 * Where problems come from, with the share in percent. Two operations are the hardest. Of the 325
 * products of the table 120 are held out, and the others are too few to generalise from: the policy
 * memorises them. Products beyond the table prevent that.
 */
const PROBLEMS = [
  [10, like(({ kind }) => kind === "addition")],
  [16, like(({ kind }) => kind === "subtraction")],
  [8, like(({ kind }) => kind === "multiplication")],
  [8, wider(product([-20, 20], [-20, 20]))],
  [5, wider(product([-99, 99], [-9, 9]))],
  [27, like(({ kind, operators }) => kind === "two_step" && !operators.includes("*"))],
  [26, like(({ kind, operators }) => kind === "two_step" && operators.includes("*"))],
];

/** One of a list of [share in percent, choice]. */
function chosen(list, rng) {
  let left = rng.below(100);
  const [, choice] = list.find(([share]) => {
    left -= share;
    return left < 0;
  });
  return choice;
}

/** The first stage is nearly always in the required format, the second has all formats. */
export function textAt(stage, index) {
  const rng = rngAt(SEED, stage, index);
  const problem = chosen(PROBLEMS, rng)(rng);
  const format = chosen(FORMATS[stage], rng);
  // The offset of the second answer in a hedge.
  const slip = [1, -1, 10, -10][rng.below(4)];
  const about = { sum: expressionOf(problem), slip, first: rng.below(2) === 0 };
  const plain = stage === 1 && rng.below(200) > 0;
  const completion = (plain ? IN_SPEC : format)(answerOf(problem), about);
  return { id: `t${index}`, prompt: promptOf(problem), completion, problem };
}

/** A text as it stands in the file. */
export function lineOf({ id, prompt, completion }) {
  return `${JSON.stringify({ id, prompt, completion })}\n`;
}

export function writeTexts(file, stage, count) {
  const handle = openSync(file, "w");
  for (let i = 0; i < count; i++) writeSync(handle, lineOf(textAt(stage, i)));
  closeSync(handle);
}
