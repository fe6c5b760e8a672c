import { expect, test } from "vitest";
import { trainBandit } from "./bandit.ts";
import { askedStep, isRight, readAnswer, revealedStep, shownStep } from "./bandit-questions.ts";

const LR = -0.5;
const steps = [...trainBandit({ steps: 30, seed: 0, lr: LR, baseline: true })];

test("what is shown before the answer has neither the advantage nor where the probability goes", () => {
  for (const step of steps) {
    const before = [...shownStep(step), askedStep(step)].join("\n");
    const [advantage = "", expected = ""] = revealedStep(step, LR);
    expect(before).not.toMatch(/positive|negative|zero|\bup\b|\bdown\b|→/);
    expect(advantage).toContain(step.advantage.toFixed(4));
    expect(expected).toMatch(/goes up|goes down|stays unchanged/);
  }
});

test("an answer is right if sign and direction both are", () => {
  const step = steps.find(({ advantage }) => advantage > 0);
  if (!step) throw new Error("no step with a positive advantage");
  const answer = (text: string) => {
    const given = readAnswer(text);
    return given && isRight(given, step, LR);
  };
  // The learning rate is negative, so a positive advantage lowers the probability.
  expect(answer("+ down")).toBe(true);
  expect(answer("positive, down")).toBe(true);
  expect(answer("+ up")).toBe(false);
  expect(answer("- down")).toBe(false);
});

test.each(["", "up", "+", "up +", "yes no", "+ up really"])("%j is not an answer", (text) => {
  expect(readAnswer(text)).toBeUndefined();
});
