import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rngAt } from "../../core/rng.ts";
import { ARMS, exactUpdate, expectedDirection, measuredUpdate, trainBandit } from "./bandit.ts";
import { compareBaselines, diagnoseLearningRate } from "./bandit-run.ts";
import {
  CANDIDATES,
  chooseWithKlPenalty,
  gradientAscent,
  klPenaltyOptimum,
  klPoint,
} from "./kl-penalty.ts";
import {
  drawAction,
  entropy,
  expectation,
  klDivergence,
  reinforceStep,
  scoreFunction,
  softmax,
} from "./softmax.ts";
import {
  expectedReward,
  initialTwoStepPolicy,
  PAYS,
  type TwoStepPolicy,
  trainTwoStep,
} from "./two-step.ts";

const logits = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), {
  minLength: 2,
  maxLength: 6,
});

describe("closed forms", () => {
  test("softmax([2, 1, 0]) and its logs", () => {
    const p = softmax([2, 1, 0]);
    expect(p.map((x) => x.toFixed(3))).toEqual(["0.665", "0.245", "0.090"]);
    expect(p.map((x) => Math.log(x).toFixed(3))).toEqual(["-0.408", "-1.408", "-2.408"]);
  });

  test("softmax does not overflow and ignores a common shift", () => {
    expect(softmax([1000, 999])).toEqual(softmax([1, 0]));
  });

  test("KL([0.9, 0.1] ‖ [0.5, 0.5]) is 0.368 nats, and 0 only at equality", () => {
    expect(klDivergence([0.9, 0.1], [0.5, 0.5]).toFixed(3)).toBe("0.368");
    expect(klDivergence([0.3, 0.7], [0.3, 0.7])).toBe(0);
    expect(klDivergence([1, 0], [0, 1])).toBe(Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(logits, (z) => {
        const p = softmax(z);
        expect(klDivergence(p, softmax(z.map(() => 0)))).toBeGreaterThanOrEqual(-1e-12);
        expect(entropy(p)).toBeLessThanOrEqual(Math.log(p.length) + 1e-12);
      }),
    );
  });

  test("1[a] − π is the gradient of log π(a), by central differences", () => {
    fc.assert(
      fc.property(logits, fc.nat(), (z, pick) => {
        const action = pick % z.length;
        const h = 1e-5;
        const at = (i: number, step: number) =>
          Math.log(softmax(z.map((x, j) => (i === j ? x + step : x)))[action] as number);
        for (const [i, slope] of scoreFunction(softmax(z), action).entries()) {
          expect(slope).toBeCloseTo((at(i, h) - at(i, -h)) / (2 * h), 7);
        }
      }),
    );
  });
});

describe("REINFORCE on the bandit", () => {
  test("the expected update is the gradient of the expected reward, whatever the constant baseline", () => {
    fc.assert(
      fc.property(
        fc.tuple(...ARMS.map(() => fc.double({ min: -3, max: 3, noNaN: true }))),
        fc.double({ min: -2, max: 2, noNaN: true }),
        (z, baseline) => {
          const h = 1e-5;
          const value = (i: number, step: number) =>
            expectation(softmax(z.map((x, j) => (i === j ? x + step : x))), ARMS);
          const { mean } = exactUpdate(softmax(z), baseline);
          for (const [i, slope] of mean.entries())
            expect(slope).toBeCloseTo((value(i, h) - value(i, -h)) / (2 * h), 7);
        },
      ),
    );
  });

  test("measured updates agree with the exact ones within five standard errors", () => {
    const p = softmax([0.5, 0, -0.5, 1]);
    const draws = 20_000;
    for (const baseline of [0, 0.5]) {
      const [measured, exact] = [measuredUpdate(p, baseline, 0, draws), exactUpdate(p, baseline)];
      const error = 5 * Math.sqrt(exact.variance / draws);
      for (const [i, x] of measured.mean.entries())
        expect(Math.abs(x - (exact.mean[i] as number))).toBeLessThan(error);
      expect(measured.variance / exact.variance).toBeGreaterThan(0.95);
      expect(measured.variance / exact.variance).toBeLessThan(1.05);
    }
  });

  test("every logged step can be recomputed by hand", () => {
    let z: readonly number[] = ARMS.map(() => 0);
    let rewards = 0;
    for (const step of trainBandit({ steps: 100, seed: 3, lr: 0.5, baseline: true })) {
      expect(step.probabilities_before).toEqual(softmax(z));
      // The baseline is the mean of the rewards before this one.
      expect(step.baseline).toBeCloseTo(step.step === 1 ? 0 : rewards / (step.step - 1), 12);
      expect(step.advantage).toBe(step.reward - step.baseline);
      z = reinforceStep(z, step.action, step.advantage, 0.5);
      expect(step.logits_after).toEqual(z);
      const moved = Math.sign(
        (softmax(z)[step.action] as number) - (step.probabilities_before[step.action] as number),
      );
      expect(moved).toBe({ up: 1, down: -1, unchanged: 0 }[expectedDirection(step.advantage, 0.5)]);
      rewards += step.reward;
    }
  });

  test("learns the best arm; inverted it learns the worst; without steps nothing", () => {
    const end = (lr: number, steps = 400) =>
      softmax(
        [...trainBandit({ steps, seed: 0, lr, baseline: true })].at(-1)?.logits_after ?? [
          0, 0, 0, 0,
        ],
      );
    expect(end(0.5)[3]).toBeGreaterThan(0.9);
    expect(end(-0.5)[3]).toBeLessThan(0.05);
    expect(end(0.5, 0)).toEqual([0.25, 0.25, 0.25, 0.25]);
  });

  test.each([
    [0.5, "ordinary"],
    [2, "too large"],
    [-0.5, "inverted"],
    [0, "zero"],
  ])("a learning rate of %f is called %s", (lr, name) => {
    const options = { steps: 200, seed: 0, lr, baseline: true };
    expect(diagnoseLearningRate(options, [...trainBandit(options)]).learning_rate).toBe(name);
  });

  test("logits that leave the range of numbers end the log and are named", () => {
    const options = { steps: 50, seed: 0, lr: -1.7e308, baseline: false };
    const log = [...trainBandit(options)];
    expect(log.length).toBeLessThan(50);
    for (const { logits_after: z } of log) expect(z.every(Number.isFinite)).toBe(true);
    expect(diagnoseLearningRate(options, log).learning_rate).toBe("diverged");
  });

  test("a baseline lowers the variance of the update and not its mean", () => {
    const seeds = compareBaselines({ steps: 50, seed: 0, lr: 0.5, baseline: false }, 20);
    expect(seeds.variance_ratio).toBeLessThan(0.7);
    expect(seeds.update_with_baseline.exact.variance).toBeCloseTo(0.175, 12);
    for (const [i, x] of seeds.update_with_baseline.exact.mean.entries()) {
      expect(x).toBeCloseTo(seeds.update_without_baseline.exact.mean[i] as number, 12);
    }
  });

  test("actions are drawn with the policy's probabilities", () => {
    const p = softmax([1, 0, -1]);
    const counts = [0, 0, 0];
    for (let i = 0; i < 30_000; i++) {
      const action = drawAction(p, rngAt("draw", i));
      counts[action] = (counts[action] as number) + 1;
    }
    const chi = counts.reduce(
      (sum, n, i) => sum + (n - 30_000 * (p[i] as number)) ** 2 / (30_000 * (p[i] as number)),
      0,
    );
    expect(chi).toBeLessThan(13.8); // 0.999 quantile of chi-square with 2 degrees of freedom
  });
});

describe("two decisions", () => {
  const end = (credit: "both" | "last", seed = 0): TwoStepPolicy =>
    [...trainTwoStep({ steps: 200, seed, lr: 0.5, baseline: true, credit })].at(-1)?.policy_after ??
    initialTwoStepPolicy;

  test("with credit for both the first learns, with credit for the last it never moves", () => {
    for (const seed of [0, 1, 2]) {
      expect(softmax(end("both", seed).first)[1]).toBeGreaterThan(0.9);
      expect(end("last", seed).first).toEqual([0, 0]);
      expect(softmax(end("last", seed).second[1] as number[])[1]).toBeGreaterThan(0.8);
    }
  });

  test("every logged step can be recomputed by hand", () => {
    for (const baseline of [true, false]) {
      let policy: TwoStepPolicy = initialTwoStepPolicy;
      let rewards = 0;
      for (const step of trainTwoStep({ steps: 100, seed: 4, lr: 0.7, baseline, credit: "both" })) {
        expect(step.first_probabilities_before).toEqual(softmax(policy.first));
        expect(step.second_probabilities_before).toEqual(
          softmax(policy.second[step.first] as number[]),
        );
        expect(step.baseline).toBeCloseTo(
          baseline && step.step > 1 ? rewards / (step.step - 1) : 0,
          12,
        );
        expect(step.advantage).toBe(step.reward - step.baseline);
        policy = {
          first: reinforceStep(policy.first, step.first, step.advantage, 0.7),
          second: policy.second.map((z, i) =>
            i === step.first ? reinforceStep(z, step.second, step.advantage, 0.7) : z,
          ),
        };
        expect(step.policy_after).toEqual(policy);
        rewards += step.reward;
      }
    }
  });

  test("the expected reward is the average over paths", () => {
    expect(expectedReward(initialTwoStepPolicy)).toBeCloseTo(
      PAYS.flat().reduce((a, b) => a + b) / 4,
      12,
    );
  });
});

describe("the KL penalty", () => {
  const rewards = [0.1, 0.5, 0.9];
  const reference = [0.6, 0.3, 0.1];

  test("π* ∝ π_ref · exp(r / β), and nothing near it does better", () => {
    const beta = 0.4;
    const best = klPenaltyOptimum(rewards, reference, beta);
    const weights = rewards.map((r, i) => (reference[i] as number) * Math.exp(r / beta));
    const total = weights.reduce((a, b) => a + b);
    for (const [i, p] of best.entries()) expect(p).toBeCloseTo((weights[i] as number) / total, 12);
    const value = (p: number[]) => klPoint(rewards, reference, beta, p).objective;
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -0.5, max: 0.5, noNaN: true }), { minLength: 3, maxLength: 3 }),
        (nudge) => {
          const other = softmax(best.map((p, i) => Math.log(p) + (nudge[i] as number)));
          expect(value(other)).toBeLessThanOrEqual(value(best) + 1e-12);
        },
      ),
    );
  });

  test.each([10, 1, 0.1, 0.03])("gradient ascent arrives at the closed form at β = %f", (beta) => {
    const [exact, ascended] = [
      klPenaltyOptimum(rewards, reference, beta),
      gradientAscent(rewards, reference, beta),
    ];
    for (const [i, p] of exact.entries()) expect(ascended[i]).toBeCloseTo(p, 6);
  });

  test("without a penalty all mass goes to the best reachable action", () => {
    expect(klPenaltyOptimum(rewards, reference, 0)).toEqual([0, 0, 1]);
    expect(klPenaltyOptimum([1, 1, 2], [0.25, 0.75, 0], 0)).toEqual([0.25, 0.75, 0]);
  });

  test("the tiny table: bold, polished, hack", () => {
    expect([0.1, 1, 0].map((beta) => chooseWithKlPenalty(CANDIDATES, beta).name)).toEqual([
      "bold",
      "polished",
      "hack",
    ]);
  });
});
