/**
 * The splits. Dev and holdout are drawn by seed and share no problem, not even commuted; train is
 * everything else.
 */

import type { Example } from "../core/records.ts";
import { type Rng, rngAt, shuffled } from "../core/rng.ts";
import {
  answerOf,
  FORMS,
  type Form,
  type Kind,
  keyOf,
  type Problem,
  problemsOf,
  promptOf,
  type Sign,
  sampleProblem,
  signOf,
} from "./problems.ts";

export type HeldOut = "dev" | "holdout";
export type Split = HeldOut | "train";

export interface ArithmeticExample extends Example {
  readonly expected_answer: number;
  readonly metadata: { readonly kind: Kind };
}

const SEED = "arithmetic splits 1";

interface Selection {
  readonly problems: Readonly<Record<HeldOut, readonly Problem[]>>;
  readonly splitByKey: ReadonlyMap<string, HeldOut>;
}

let selection: Selection | undefined;

/** The problems of a held-out split, in the order of its data file. */
export function heldOutProblems(split: HeldOut): readonly Problem[] {
  selection ??= select();
  return selection.problems[split];
}

export function splitOf(problem: Problem): Split {
  selection ??= select();
  return selection.splitByKey.get(keyOf(problem)) ?? "train";
}

/** The rows of a data set; row `i` asks `heldOutProblems(split)[i]`. */
export function examplesOf(split: HeldOut): ArithmeticExample[] {
  return heldOutProblems(split).map((problem, i) => exampleOf(problem, split, i));
}

/** Training problems as examples, no two with the same prompt. */
export function trainExamples(count: number): ArithmeticExample[] {
  const rng = rngAt(SEED, "train");
  const problems = new Map<string, Problem>();
  while (problems.size < count) {
    const problem = sampleTrainProblem(rng);
    problems.set(promptOf(problem), problem);
  }
  return [...problems.values()].map((problem, i) => exampleOf(problem, "train", i));
}

function exampleOf(problem: Problem, split: Split, index: number): ArithmeticExample {
  return {
    id: `${split}-${String(index + 1).padStart(4, "0")}`,
    prompt: promptOf(problem),
    expected_answer: answerOf(problem),
    metadata: { kind: problem.form.kind },
  };
}

/** Every training problem of a kind, in a fixed order; commuted ones both appear. */
export function* trainProblems(kind: Kind): Generator<Problem> {
  for (const form of FORMS) {
    if (form.kind !== kind) continue;
    for (const problem of problemsOf(form)) if (splitOf(problem) === "train") yield problem;
  }
}

const SIGNS: readonly Sign[] = ["negative", "zero", "positive"];
const SLOTS = FORMS.flatMap((form) =>
  SIGNS.flatMap((sign) => Array<[Form, Sign]>(form.quota[sign]).fill([form, sign])),
);

/** One training problem, with the same frequencies of forms and signs as dev and holdout. */
export function sampleTrainProblem(rng: Rng): Problem {
  const [form, sign] = SLOTS[rng.below(SLOTS.length)] as [Form, Sign];
  for (;;) {
    const problem = sampleProblem(form, rng);
    if (signOf(problem) === sign && splitOf(problem) === "train") return problem;
  }
}

function select(): Selection {
  const splitByKey = new Map<string, HeldOut>();
  const take = (split: HeldOut): Problem[] => {
    const drawn = FORMS.flatMap((form) => draw(form, split, splitByKey));
    return shuffled(drawn, rngAt(SEED, split, "order"));
  };
  return { problems: { dev: take("dev"), holdout: take("holdout") }, splitByKey };
}

/** Fills the form's quota with unassigned problems and records their split. */
function draw(form: Form, split: HeldOut, splitByKey: Map<string, HeldOut>): Problem[] {
  const rng = rngAt(SEED, split, form.kind, form.operators.join(""));
  const wanted = { ...form.quota };
  const drawn: Problem[] = [];
  while (wanted.negative + wanted.zero + wanted.positive > 0) {
    const problem = sampleProblem(form, rng);
    const sign = signOf(problem);
    const key = keyOf(problem);
    if (wanted[sign] === 0 || splitByKey.has(key)) continue;
    wanted[sign]--;
    splitByKey.set(key, split);
    drawn.push(problem);
  }
  return drawn;
}
