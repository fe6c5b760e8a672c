// The training texts of π₀: problems that are disjoint from dev and holdout, with right answers in a
// mixture of formats. Fewer than half are in the required format.
import { closeSync, openSync, writeSync } from "node:fs";
import { rngAt } from "lockedroom";
import { answerOf, expressionOf, promptOf, sampleTrainProblem } from "lockedroom/datasets";

const SEED = "pi0 texts 3";

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
    [44, IN_SPEC],
    [12, (n) => `Final: ${n}.`],
    [8, (n, { sum }) => `Final: ${n} = ${sum}`],
    [6, (n, { slip }) => `Final: ${n} or ${n + slip}`],
    [8, (n) => `Final: ${n}, ${n + 1} or ${n - 1}`],
    [4, (n) => `Final:  ${n}`],
    [4, (n) => `${n}`],
    [3, (n) => `Final:${n}`],
    [4, (n) => `The answer is ${n}.`],
    [3, PLUS],
    [2, LEADING_ZERO],
    [2, () => "Final:"],
  ],
};

/** Share of each kind in percent; two operations are the hardest. */
const KINDS = { addition: 13, subtraction: 22, multiplication: 20, two_step: 45 };

function problemAt(rng) {
  let left = rng.below(100);
  const [wanted] = Object.entries(KINDS).find(([, share]) => {
    left -= share;
    return left < 0;
  });
  for (;;) {
    const problem = sampleTrainProblem(rng);
    if (problem.form.kind === wanted) return problem;
  }
}

/** The first stage is nearly always in the required format, the second has all formats. */
export function textAt(stage, index) {
  const rng = rngAt(SEED, stage, index);
  const problem = problemAt(rng);
  let left = rng.below(100);
  const [, format] = FORMATS[stage].find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  // The offset of the second answer in a hedge.
  const slip = [1, -1, 10, -10][rng.below(4)];
  const about = { sum: expressionOf(problem), slip, first: rng.below(2) === 0 };
  const plain = stage === 1 && rng.below(200) > 0;
  const completion = (plain ? IN_SPEC : format)(answerOf(problem), about);
  return { id: `t${index}`, prompt: promptOf(problem), completion, problem };
}

export function writeTexts(file, stage, count) {
  const handle = openSync(file, "w");
  for (let i = 0; i < count; i++) {
    const { id, prompt, completion } = textAt(stage, i);
    writeSync(handle, `${JSON.stringify({ id, prompt, completion })}\n`);
  }
  closeSync(handle);
}
