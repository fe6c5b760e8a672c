// The texts that π₀ learns from: training problems, which share nothing with dev and holdout, answered
// rightly in a mixture of formats. Half of them are in spec; the others are what a policy has to unlearn.
import { closeSync, openSync, writeSync } from "node:fs";
import { answerOf, expressionOf, promptOf, rngAt, sampleTrainProblem } from "lockedroom";

export const COUNT = 300_000;
const SEED = "pi0 texts 1";

/** How often, and how. */
const FORMATS = [
  [50, (n) => `Final: ${n}`],
  [7, (n) => `Final:  ${n}`],
  [7, (n) => `${n}`],
  [5, (n) => `Final:${n}`],
  [5, (n) => `The answer is ${n}.`],
  [8, (n, sum) => `${sum} = ${n}\nFinal: ${n}`],
  [6, (n) => `Final: ${n < 0 ? "-0" : "0"}${Math.abs(n)}`],
  [5, (n) => (n < 0 ? `Final: ${n}.` : `Final: +${n}`)],
  [5, (n) => `Final: ${n}.`],
  [2, () => "Final:"],
];
const TOTAL = FORMATS.reduce((sum, [weight]) => sum + weight, 0);

export function textAt(index) {
  const rng = rngAt(SEED, index);
  const problem = sampleTrainProblem(rng);
  let left = rng.below(TOTAL);
  const [, format] = FORMATS.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  const completion = format(answerOf(problem), expressionOf(problem));
  return { id: `t${index}`, prompt: promptOf(problem), completion, problem };
}

export function writeTexts(file, count = COUNT) {
  const handle = openSync(file, "w");
  for (let i = 0; i < count; i++) {
    const { id, prompt, completion } = textAt(i);
    writeSync(handle, `${JSON.stringify({ id, prompt, completion })}\n`);
  }
  closeSync(handle);
}
