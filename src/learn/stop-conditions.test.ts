/** Each condition of `stop`, beside the nearest run that must go on. */

import { describe, expect, test } from "vitest";
import type { EvaluationRecord } from "../runs/train-records.ts";
import { algorithmOf } from "./algorithms/index.ts";
import { trainSettings } from "./settings.ts";
import { type RunSoFar, stopOf } from "./stop-conditions.ts";

const EXAMPLES = 100;

const evaluation = (step: number, passed: number, loss?: number): EvaluationRecord => ({
  ...{ step, examples: EXAMPLES, pass_rate: passed / EXAMPLES, reward_mean: passed / EXAMPLES },
  proxy_mean: passed / EXAMPLES,
  ...{ kl_exact: null, entropy: 1, length_mean: 10, truncated: 0, repeated: 0.1, outcomes: {} },
  rewards: Array.from({ length: EXAMPLES }, (_, i) => Number(i < passed)),
  ...(loss !== undefined && { loss }),
});

/** A validation every ten steps; steps of 60 tokens trained on and 40 sampled. */
function run(passed: readonly number[], losses: readonly number[] = []): RunSoFar {
  const evaluations = passed.map((count, i) => evaluation(10 * i, count, losses[i]));
  return { ...stepsTo(10 * (passed.length - 1)), evaluations };
}

const stepsTo = (last: number): RunSoFar => ({
  steps: Array.from({ length: last }, (_, i) => ({
    ...{ step: i + 1, tokens: 60, sampled_tokens: 40 },
  })),
  ...{ evaluations: [], seconds: last },
});

/** The initial policy, and a validation ten steps later. */
const of = (before: number[], now: number[]): RunSoFar => ({
  ...stepsTo(10),
  evaluations: [before, now].map((rewards, i) => ({
    ...{ ...evaluation(10 * i, 0), examples: rewards.length, rewards },
    reward_mean: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
  })),
});

const reasonOf = (so: RunSoFar, stop: object) =>
  stopOf(so, trainSettings(algorithmOf("grpo"), { steps: 1000, stop: { ...stop } }).stop)?.reason;

const FLAT = [40, 50, 50, 49, 50, 48, 50];

describe("plateau", () => {
  test("is on by default, after 50 steps without improvement and not one validation before", () => {
    expect(reasonOf(run(FLAT), {})).toBe("plateau");
    expect(reasonOf(run(FLAT.slice(0, -1)), {})).toBeUndefined();
    expect(reasonOf(run([...FLAT.slice(0, -1), 51]), {})).toBeUndefined();
    expect(reasonOf(run(FLAT), { plateau: null })).toBeUndefined();
  });

  test("does not stop a policy from scratch whose held-out loss still falls", () => {
    const zeros = [0, 0, 0, 0, 0, 0, 0];
    expect(reasonOf(run(zeros, [7, 6, 5, 4, 3, 2, 1]), {})).toBeUndefined();
    expect(reasonOf(run(zeros, [7, 6, 6, 6, 6, 6, 6]), {})).toBe("plateau");
  });

  test("has three validations at least, and checks each of them once", () => {
    expect(reasonOf(run([50, 50, 50]), { plateau: { steps: 10 } })).toBeUndefined();
    expect(reasonOf(run([50, 50, 50, 50]), { plateau: { steps: 10 } })).toBe("plateau");
    const later = { ...run(FLAT), steps: stepsTo(63).steps };
    expect(reasonOf(later, {})).toBeUndefined();
  });

  test("lets rises below delta add up", () => {
    const slow = [40, 41, 42, 43, 44, 45, 46];
    expect(reasonOf(run(slow), { plateau: { delta: 0.015 } })).toBeUndefined();
    expect(reasonOf(run(slow), { plateau: { delta: 0.1 } })).toBe("plateau");
  });

  test.each([9, 0])("of %d steps is refused: 10 is the least", (steps) => {
    expect(() => reasonOf(run(FLAT), { plateau: { steps } })).toThrow(/stop.plateau.steps/);
  });
});

test("target: at the first validation that reaches it, never at the initial policy", () => {
  expect(reasonOf(run([40, 60]), { target: 0.6 })).toBe("target");
  expect(reasonOf(run([40, 59]), { target: 0.6 })).toBeUndefined();
  expect(reasonOf(run([60]), { target: 0.6 })).toBeUndefined();
});

describe("margin", () => {
  test("above the initial policy, with confidence", () => {
    expect(reasonOf(run([40, 60]), { margin: 0.1 })).toBe("margin");
    // By 0.12, which 100 examples do not show to be 0.1.
    expect(reasonOf(run([40, 52]), { margin: 0.1 })).toBeUndefined();
    expect(reasonOf(run([40, 52]), { margin: 0 })).toBe("margin");
  });

  test("not of a policy that learned nothing, nor of few examples", () => {
    expect(reasonOf(run([0, 0]), { margin: 0 }), "nothing changed").toBeUndefined();
    expect(reasonOf(run([100, 100]), { margin: 0, baseline: 1 }), "at 1").toBeUndefined();
    expect(reasonOf(run([100, 100]), { margin: 0, baseline: 0.9 })).toBe("margin");
    expect(reasonOf(of([0, 0], [1, 1]), { margin: 0.5 }), "two examples").toBeUndefined();
    expect(reasonOf(of(Array(19).fill(0), Array(19).fill(1)), { margin: 0 })).toBeUndefined();
    expect(reasonOf(of(Array(20).fill(0), Array(20).fill(1)), { margin: 0.5 })).toBe("margin");
    // All of 20 passed: a rate of 0.88 or more, and not of 1.
    const all = of(Array(20).fill(0), Array(20).fill(1));
    expect(reasonOf(all, { margin: 0, baseline: 0.87 })).toBe("margin");
    expect(reasonOf(all, { margin: 0, baseline: 0.9 })).toBeUndefined();
  });

  test("of graded rewards, whose changes have a spread", () => {
    const start = Array.from({ length: 40 }, (_, i) => 0.1 + (i % 4) / 100);
    const risen = start.map((reward, i) => reward + 0.2 + (i % 3) / 100);
    expect(reasonOf(of(start, risen), { margin: 0.1 })).toBe("margin");
    expect(reasonOf(of(start, risen), { margin: 0.3 })).toBeUndefined();
    const same = of(Array(40).fill(0.5), Array(40).fill(0.5));
    expect(reasonOf(same, { margin: 0 })).toBeUndefined();
    expect(reasonOf(same, { margin: 0, baseline: 0.4 }), "no spread").toBeUndefined();
  });

  test("above a number, such as that of another model", () => {
    expect(reasonOf(run([40, 98]), { margin: 0.02, baseline: 0.9 })).toBe("margin");
    // By 0.06, which 100 examples do not show to be 0.02.
    expect(reasonOf(run([40, 96]), { margin: 0.02, baseline: 0.9 })).toBeUndefined();
  });
});

test("budgets of tokens, money and time", () => {
  expect(reasonOf(stepsTo(10), { tokens: 1000 })).toBe("tokens");
  expect(reasonOf(stepsTo(9), { tokens: 1000 })).toBeUndefined();
  expect(reasonOf(stepsTo(10), { money: 0.002, price: 2 })).toBe("money");
  expect(reasonOf(stepsTo(9), { money: 0.002, price: 2 })).toBeUndefined();
  expect(reasonOf(stepsTo(10), { seconds: 10 })).toBe("seconds");
  expect(reasonOf(stepsTo(9), { seconds: 10 })).toBeUndefined();
  expect(() => reasonOf(stepsTo(1), { money: 1 })).toThrow(/price/);
});

describe("reward_plateau", () => {
  const rewards = (values: readonly number[], stop: object = {}) =>
    stopOf(
      {
        steps: values.map((value, i) => ({ step: i + 1, tokens: 1, "reward/mean": value })),
        ...{ evaluations: [], seconds: 0 },
      },
      trainSettings(algorithmOf("grpo"), { stop: { reward_plateau: { steps: 5 }, ...stop } }).stop,
    );
  const flat = [0.2, 0.4, 0.6, 0.6, 0.61, 0.6, 0.6, 0.6, 0.6, 0.61, 0.6, 0.61];

  test("ends a run whose training reward no longer rises, and not one that still does", () => {
    expect(rewards(flat)).toMatchObject({
      reason: "reward_plateau",
      message: expect.stringMatching(/last 5 steps is 0.604, and that of the 5 before was 0.602/),
    });
    expect(rewards(flat.map((value, i) => value + i / 100))).toBeUndefined();
    expect(rewards(flat.slice(0, 9))).toBeUndefined();
  });

  test("leaves a run alone whose validation still improves: a judge's scores are relative", () => {
    const steps = Array.from({ length: 20 }, (_, i) => ({
      ...{ step: i + 1, tokens: 1, "reward/mean": 0.5 },
    }));
    const reasonAt = (passed: readonly number[]) =>
      reasonOf(
        { steps, evaluations: passed.map((one, i) => evaluation(4 * i, one)), seconds: 0 },
        { reward_plateau: { steps: 5 } },
      );
    expect(reasonAt([50, 55, 60, 65, 70, 75])).toBeUndefined();
    expect(reasonAt([50, 55, 60, 65, 70, 70.5])).toBeUndefined();
    expect(reasonAt([50, 55, 60, 65, 65, 65])).toBe("reward_plateau");
  });

  test("is not asked for unless it is set", () => {
    expect(rewards(flat, { reward_plateau: null })).toBeUndefined();
    expect(trainSettings(algorithmOf("grpo"), {}).stop.reward_plateau).toBeUndefined();
  });
});
