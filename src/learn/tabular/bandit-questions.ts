/**
 * A step of the bandit as an exercise: what a learner is shown, what is asked (the sign of the
 * advantage, and what must happen to the probability), and whether an answer is right.
 */

import { ARM_NAMES, type BanditStep, expectedDirection } from "./bandit.ts";
import { softmax } from "./softmax.ts";

export type Sign = "positive" | "negative" | "zero";
export type Direction = ReturnType<typeof expectedDirection>;

/** What is true of a step. */
export interface StepAnswer {
  readonly sign: Sign;
  readonly direction: Direction;
}

export function answerOf({ advantage }: BanditStep, lr: number): StepAnswer {
  const sign = advantage > 0 ? "positive" : advantage < 0 ? "negative" : "zero";
  return { sign, direction: expectedDirection(advantage, lr) };
}

/** What is given: everything but the advantage, which is reward minus baseline. */
export function shownStep({ step, action, reward, baseline, ...logged }: BanditStep): string[] {
  const probabilities = logged.probabilities_before
    .map((p, i) => `${ARM_NAMES[i]} ${p.toFixed(4)}`)
    .join("  ");
  return [
    `step ${step}`,
    `  probabilities  ${probabilities}`,
    `  action ${ARM_NAMES[action]}  reward ${reward}  baseline ${baseline.toFixed(4)}`,
  ];
}

/** The blanks that stand for the answer until it is revealed. */
export function askedStep({ action }: BanditStep): string {
  return `  advantage ?  sign ?  the probability of ${ARM_NAMES[action]} must go ?`;
}

/** The advantage and what it does. */
export function revealedStep(step: BanditStep, lr: number): string[] {
  const { action, advantage, probabilities_before: before, logits_after: after } = step;
  const { sign, direction } = answerOf(step, lr);
  const arm = ARM_NAMES[action];
  const [from, to] = [before, softmax(after)].map((p) => (p[action] as number).toFixed(4));
  const moves = direction === "unchanged" ? "stays unchanged" : `goes ${direction}`;
  return [
    `  advantage ${advantage >= 0 ? "+" : ""}${advantage.toFixed(4)} (${sign})`,
    `  expected: the probability of ${arm} ${moves}: ${from} → ${to}${lr < 0 ? "  (lr is negative)" : ""}`,
  ];
}

const SIGNS: readonly (readonly [Sign, RegExp])[] = [
  ["positive", /^(?:\+|p|pos|positive)$/],
  ["negative", /^(?:-|−|n|neg|negative)$/],
  ["zero", /^(?:0|z|zero)$/],
];
const DIRECTIONS: readonly (readonly [Direction, RegExp])[] = [
  ["up", /^(?:up|u|↑)$/],
  ["down", /^(?:down|d|↓)$/],
  ["unchanged", /^(?:unchanged|same|s|=)$/],
];

/** "+ up", "negative, down", "0 same"; undefined for anything else. */
export function readAnswer(text: string): StepAnswer | undefined {
  const [first = "", second = "", ...rest] = text
    .trim()
    .toLowerCase()
    .split(/[\s,]+/);
  const sign = SIGNS.find(([, form]) => form.test(first))?.[0];
  const direction = DIRECTIONS.find(([, form]) => form.test(second))?.[0];
  return sign && direction && rest.length === 0 ? { sign, direction } : undefined;
}

export function isRight(given: StepAnswer, step: BanditStep, lr: number): boolean {
  const { sign, direction } = answerOf(step, lr);
  return given.sign === sign && given.direction === direction;
}
