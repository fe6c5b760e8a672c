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

/** In each stage: of so many problems, some are of one kind only; the others of all kinds alike. */
const HARD = { of: 20, kinds: { two_step: 6, multiplication: 6 } };
const EXTRA = { 1: { of: 3, kinds: { two_step: 1 } }, 2: HARD, 3: HARD, 4: HARD };
/** The stage that is about formats; those before are about arithmetic. */
const LAST = 4;

function problemAt(stage, rng) {
  const { of, kinds } = EXTRA[stage];
  let left = rng.below(of);
  const wanted = Object.entries(kinds).find(([, share]) => {
    left -= share;
    return left < 0;
  });
  for (;;) {
    const problem = sampleTrainProblem(rng);
    if (!wanted || problem.form.kind === wanted[0]) return problem;
  }
}

/**
 * A text of the first stages is about arithmetic and nearly always in spec, one of the last is about
 * formats.
 */
export function textAt(stage, index) {
  const rng = rngAt(SEED, stage, index);
  const problem = problemAt(stage, rng);
  let left = stage < LAST && rng.below(20) > 0 ? 0 : rng.below(TOTAL);
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
