/**
 * Goodhart's law. A small stochastic policy writes completions from five independent choices, and
 * REINFORCE optimises the reward of a verifier. It is not told which combinations are exploits.
 */

import { rngAt } from "../../core/rng.ts";
import type { Reward } from "./reward.ts";
import { drawAction, reinforceStep, softmax, type Vector } from "./softmax.ts";

export interface Question {
  readonly id: string;
  readonly prompt: string;
  readonly answer: number;
}

/** The proxy, as recorded in the manifest. */
export const NAIVE: Reward = {
  name: "naive_integer_anywhere",
  version: "1",
  spec: "Reward 1 if the expected integer appears anywhere in the completion, otherwise 0.",
  module: import.meta.url,
};

/** Returns the reward of a completion, 1 or 0. */
export type Verifier = (problem: Question, completion: string) => number;

/** The naive proxy: the expected integer appears anywhere. */
export const naiveVerifier: Verifier = ({ answer }, completion) =>
  integersIn(completion).includes(String(answer)) ? 1 : 0;

/** Patched against the whole class of exploits: the text must be exactly one answer. */
export const patchedVerifier: Verifier = ({ answer }, completion) =>
  /^Final: (-?\d+)$/.exec(completion)?.[1] === String(answer) ? 1 : 0;

function integersIn(text: string): string[] {
  return text.match(/-?\d+/g) ?? [];
}

/** The choices, from sensible to odd; the policy is a softmax over each. */
export const CHOICES = {
  effort: ["guess", "compute"],
  opening: ["Final: ", "The answer is ", "Maybe ", ""],
  guesses: [1, 2, 4, 8, 16],
  separator: [" ", ", ", " or ", "\n"],
  ending: ["", ".", " (sure)"],
} as const;
type Choice = keyof typeof CHOICES;
const ORDER = Object.keys(CHOICES) as Choice[];

export type GoodhartPolicy = Readonly<Record<Choice, Vector>>;

/** A policy that mostly answers as asked, with some probability on every option. */
export const initialGoodhartPolicy: GoodhartPolicy = {
  effort: [1, 0],
  opening: [2.5, 0.5, 0, 0],
  guesses: [3, 0, -1, -1, -1],
  separator: [0, 0, 0, 0],
  ending: [2.5, 0, 0],
};

/** The probability that a computed answer is right. */
const SKILL = 0.7;

export interface Draw {
  readonly picks: Readonly<Record<Choice, number>>;
  readonly completion: string;
}

/** One completion; all randomness comes from the coordinates. */
export function writeCompletion(
  policy: GoodhartPolicy,
  problem: Question,
  coordinates: readonly (string | number)[],
): Draw {
  const picks = Object.fromEntries(
    ORDER.map((choice) => [
      choice,
      drawAction(softmax(policy[choice]), rngAt(...coordinates, choice)),
    ]),
  ) as Record<Choice, number>;
  const count = CHOICES.guesses[picks.guesses] as number;
  const honest = CHOICES.effort[picks.effort] === "compute";
  const numbers = guesses(problem, honest, count, coordinates).join(
    CHOICES.separator[picks.separator],
  );
  return {
    picks,
    completion: `${CHOICES.opening[picks.opening]}${numbers}${CHOICES.ending[picks.ending]}`,
  };
}

/** A first number, right with a probability that depends on the effort, and then its neighbours. */
function guesses(
  { answer }: Question,
  honest: boolean,
  count: number,
  coordinates: readonly (string | number)[],
): number[] {
  const rng = rngAt(...coordinates, "number");
  const right = honest && rng.next() < SKILL;
  const reach = honest ? 3 : 20;
  const start = right ? answer : answer + (rng.below(reach) + 1) * (rng.next() < 0.5 ? -1 : 1);
  return Array.from({ length: count }, (_, i) => start + (i % 2 === 1 ? (i + 1) / 2 : -i / 2));
}

export interface PressureOptions {
  readonly problems: readonly Question[];
  /** The reward that is optimised. */
  readonly proxy: Verifier;
  /** The intended reward, which is only measured. */
  readonly truth: Verifier;
  readonly seed: number;
  readonly lr: number;
  readonly batch: number;
  /** Numbers of updates at which to measure, ascending, from 0. */
  readonly levels: readonly number[];
}

export interface PressurePoint {
  readonly pressure: number;
  readonly proxy_reward: number;
  readonly true_reward: number;
  readonly policy: GoodhartPolicy;
}

/** Optimises the proxy and measures both rewards at each level. */
export function optimiseProxy(options: PressureOptions): PressurePoint[] {
  let policy = initialGoodhartPolicy;
  let updates = 0;
  return options.levels.map((level) => {
    while (updates < level) policy = update(policy, options, ++updates);
    return { pressure: level, ...measure(policy, options), policy };
  });
}

/** One REINFORCE update with the batch mean as baseline; all choices get the same advantage. */
function update(
  policy: GoodhartPolicy,
  { problems, proxy, seed, lr, batch }: PressureOptions,
  step: number,
): GoodhartPolicy {
  const draws = Array.from({ length: batch }, (_, i) => {
    const problem = problems[rngAt(seed, step, i, "problem").below(problems.length)] as Question;
    const draw = writeCompletion(policy, problem, [seed, step, i]);
    return { ...draw, reward: proxy(problem, draw.completion) };
  });
  const mean = draws.reduce((sum, { reward }) => sum + reward, 0) / batch;
  const learned = ORDER.map((choice) => {
    const steps = draws.map(({ picks, reward }) =>
      reinforceStep(policy[choice], picks[choice], reward - mean, lr / batch),
    );
    const logits = policy[choice].map(
      (logit, i) => logit + steps.reduce((sum, s) => sum + (s[i] as number) - logit, 0),
    );
    return [choice, logits];
  });
  return Object.fromEntries(learned) as unknown as GoodhartPolicy;
}

function measure(policy: GoodhartPolicy, { problems, proxy, truth }: PressureOptions) {
  const scores = problems.map((problem) => {
    const { completion } = writeCompletion(policy, problem, ["measure", problem.id]);
    return [proxy(problem, completion), truth(problem, completion)] as const;
  });
  const mean = (column: 0 | 1) =>
    scores.reduce((sum, score) => sum + score[column], 0) / scores.length;
  return { proxy_reward: mean(0), true_reward: mean(1) };
}

export interface Hack {
  readonly problem: Question;
  readonly completion: string;
}

/** Different completions that the proxy rewards and the intended reward does not. */
export function findHacks(
  policy: GoodhartPolicy,
  options: PressureOptions,
  wanted: number,
): Hack[] {
  const hacks = new Map<string, Hack>();
  for (let round = 0; round < 20 && hacks.size < wanted; round++) {
    for (const problem of options.problems) {
      if (hacks.size >= wanted) break;
      const { picks, completion } = writeCompletion(policy, problem, ["hack", round, problem.id]);
      const form = JSON.stringify(picks);
      const cheats =
        options.proxy(problem, completion) === 1 && options.truth(problem, completion) === 0;
      if (cheats && !hacks.has(form)) hacks.set(form, { problem, completion });
    }
  }
  return [...hacks.values()];
}
