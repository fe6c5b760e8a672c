/**
 * REINFORCE on a four-armed bandit with rewards 1 or 0 and a softmax policy. Left out on purpose:
 * states, batches, optimisers. Every number can be checked by hand.
 */

import { rngAt } from "../../core/rng.ts";
import type { Reward } from "./reward.ts";
import { drawAction, reinforceStep, scoreFunction, softmax, type Vector } from "./softmax.ts";

/** The probability of reward 1 for each arm; the last is the best. */
export const ARMS: Vector = [0.2, 0.4, 0.6, 0.8];
export const ARM_NAMES = ["A", "B", "C", "D"] as const;

export const BANDIT: Reward = {
  name: "four_armed_bandit",
  version: "1",
  spec: `Arms ${ARM_NAMES.join(", ")} have reward 1 with probability ${ARMS.join(", ")}, otherwise 0.`,
  module: import.meta.url,
};

export interface BanditOptions {
  readonly steps: number;
  readonly seed: number;
  readonly lr: number;
  /** Subtract the running mean of the rewards seen so far. */
  readonly baseline: boolean;
}

/** One line of log.jsonl, and everything an update depends on. */
export interface BanditStep {
  readonly step: number;
  readonly probabilities_before: Vector;
  readonly action: number;
  readonly reward: number;
  /** The mean of the earlier rewards, without this one. */
  readonly baseline: number;
  readonly advantage: number;
  readonly logits_after: Vector;
}

/** Samples and updates; stops early if the logits are no longer finite. */
export function* trainBandit({
  steps,
  seed,
  lr,
  baseline: useBaseline,
}: BanditOptions): Generator<BanditStep> {
  let logits: Vector = ARMS.map(() => 0);
  let mean = 0;
  for (let step = 1; step <= steps; step++) {
    const probabilities = softmax(logits);
    const action = drawAction(probabilities, rngAt(seed, step, "action"));
    const reward = rngAt(seed, step, "reward").next() < (ARMS[action] as number) ? 1 : 0;
    const baseline = useBaseline ? mean : 0;
    const advantage = reward - baseline;
    logits = reinforceStep(logits, action, advantage, lr);
    mean += (reward - mean) / step;
    if (!logits.every(Number.isFinite)) return;
    yield {
      step,
      probabilities_before: probabilities,
      action,
      reward,
      baseline,
      advantage,
      logits_after: logits,
    };
  }
}

/** The expected change of the sampled action's probability, from the signs alone. */
export function expectedDirection(advantage: number, lr: number): "up" | "down" | "unchanged" {
  const push = Math.sign(advantage) * Math.sign(lr);
  return push > 0 ? "up" : push < 0 ? "down" : "unchanged";
}

export interface UpdateSpread {
  /** Mean update direction. */
  readonly mean: number[];
  /** Trace of the covariance of one update. */
  readonly variance: number;
}

/** Mean and variance of an update over all actions and rewards, in closed form; `baseline` is constant. */
export function exactUpdate(probabilities: Vector, baseline: number): UpdateSpread {
  const mean = probabilities.map(() => 0);
  let square = 0;
  for (const [action, probability] of probabilities.entries()) {
    const direction = scoreFunction(probabilities, action);
    const pays = ARMS[action] as number;
    for (const [reward, chance] of [
      [1, pays],
      [0, 1 - pays],
    ] as const) {
      const update = direction.map((d) => (reward - baseline) * d);
      for (const [i, u] of update.entries())
        mean[i] = (mean[i] as number) + probability * chance * u;
      square += probability * chance * squaredNorm(update);
    }
  }
  return { mean, variance: square - squaredNorm(mean) };
}

/** The same, measured over draws with fixed seeds, so that all baselines use the same draws. */
export function measuredUpdate(
  probabilities: Vector,
  baseline: number,
  seed: number,
  draws: number,
): UpdateSpread {
  const updates = Array.from({ length: draws }, (_, draw) => {
    const action = drawAction(probabilities, rngAt(seed, "update", draw, "action"));
    const pays = rngAt(seed, "update", draw, "reward").next() < (ARMS[action] as number);
    const reward = pays ? 1 : 0;
    return scoreFunction(probabilities, action).map((d) => (reward - baseline) * d);
  });
  const mean = probabilities.map(
    (_, i) => updates.reduce((sum, u) => sum + (u[i] as number), 0) / updates.length,
  );
  const spread = updates.reduce(
    (sum, u) => sum + squaredNorm(u.map((x, i) => x - (mean[i] as number))),
    0,
  );
  return { mean, variance: spread / Math.max(1, updates.length - 1) };
}

function squaredNorm(vector: Vector): number {
  return vector.reduce((sum, x) => sum + x * x, 0);
}
