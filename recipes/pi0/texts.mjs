// The texts that π₀ learns from: training problems, which share nothing with dev and holdout, answered
// rightly in a mixture of formats. Half of them are in spec; the others are what a policy has to unlearn.
import { closeSync, openSync, writeSync } from "node:fs";
import { answerOf, expressionOf, promptOf, rngAt, sampleTrainProblem } from "lockedroom";

const SEED = "pi0 texts 2";

/** How often, and how. A tenth off or one off is the slip that a hedge covers. */
const FORMATS = [
  [44, (n) => `Final: ${n}`],
  [8, (n) => `Final:  ${n}`],
  [7, (n) => `${n}`],
  [6, (n) => `Final:${n}`],
  [6, (n) => `The answer is ${n}.`],
  [7, (n, { sum }) => `${sum} = ${n}\nFinal: ${n}`],
  [6, (n) => `Final: ${n < 0 ? "-0" : "0"}${Math.abs(n)}`],
  [5, (n) => (n < 0 ? `Final: ${n}.` : `Final: +${n}`)],
  [5, (n) => `Final: ${n}.`],
  [
    4,
    (n, { slip, first }) => (first ? `Final: ${n} or ${n + slip}` : `Final: ${n + slip} or ${n}`),
  ],
  [2, () => "Final:"],
];
const TOTAL = FORMATS.reduce((sum, [weight]) => sum + weight, 0);

/** Forms with two operations are the hardest, and are seen as often as all others together. */
function problemAt(rng) {
  const hard = rng.below(3) === 0;
  for (;;) {
    const problem = sampleTrainProblem(rng);
    if (!hard || problem.form.kind === "two_step") return problem;
  }
}

/**
 * A text for the first stage, which is about arithmetic and nearly always in spec, or for the second,
 * which is about formats.
 */
export function textAt(stage, index) {
  const rng = rngAt(SEED, stage, index);
  const problem = problemAt(rng);
  let left = stage === 1 && rng.below(20) > 0 ? 0 : rng.below(TOTAL);
  const [, format] = FORMATS.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  const slip = [1, -1, 10, -10][rng.below(4)];
  const about = { sum: expressionOf(problem), slip, first: rng.below(2) === 0 };
  const completion = format(answerOf(problem), about);
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
