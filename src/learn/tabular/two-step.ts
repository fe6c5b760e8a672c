/**
 * Credit assignment: choose A or B, then X or Y, and only then a reward. If only the last decision
 * gets the reward, the first one never learns, although it matters most.
 */

import { rngAt } from "../../core/rng.ts";
import type { Reward } from "./reward.ts";
import { drawAction, reinforceStep, softmax, type Vector } from "./softmax.ts";

export const FIRST = ["A", "B"] as const;
export const SECOND = ["X", "Y"] as const;

/** The probability of reward 1 after each path: B then Y is best. */
export const PAYS: readonly Vector[] = [
  [0.1, 0.3],
  [0.2, 0.9],
];

export const TWO_STEP: Reward = {
  name: "two_step_mdp",
  version: "1",
  spec: `Choose ${FIRST.join(" or ")}, then ${SECOND.join(" or ")}; the paths AX, AY, BX, BY have reward 1 with probability ${PAYS.flat().join(", ")}, otherwise 0.`,
  module: import.meta.url,
};

/** Which decisions a reward at the end is credited to. */
export type CreditAssignment = "both" | "last";

export interface TwoStepOptions {
  readonly steps: number;
  readonly seed: number;
  readonly lr: number;
  readonly baseline: boolean;
  readonly credit: CreditAssignment;
  /** A custom update instead of the built-in one. */
  readonly update?: TwoStepUpdate | undefined;
}

/** Logits of the first decision, and of the second after each first. */
export interface TwoStepPolicy {
  readonly first: Vector;
  readonly second: readonly Vector[];
}

/** One episode, as input of the update. */
export interface TwoStepEpisode {
  /** Indices into `FIRST` and `SECOND`. */
  readonly first: number;
  readonly second: number;
  readonly advantage: number;
  readonly lr: number;
}

/** The policy after an episode. */
export type TwoStepUpdate = (policy: TwoStepPolicy, episode: TwoStepEpisode) => TwoStepPolicy;

/** REINFORCE with credit for both decisions, or for the last one only. */
export const TWO_STEP_UPDATES: Record<CreditAssignment, TwoStepUpdate> = {
  both: (policy, episode) => ({
    first: reinforceStep(policy.first, episode.first, episode.advantage, episode.lr),
    second: creditSecond(policy, episode),
  }),
  last: (policy, episode) => ({ first: policy.first, second: creditSecond(policy, episode) }),
};

function creditSecond({ second }: TwoStepPolicy, episode: TwoStepEpisode): readonly Vector[] {
  return second.map((logits, i) =>
    i === episode.first
      ? reinforceStep(logits, episode.second, episode.advantage, episode.lr)
      : logits,
  );
}

export interface TwoStepStep {
  readonly step: number;
  readonly first_probabilities_before: Vector;
  readonly second_probabilities_before: Vector;
  readonly first: number;
  readonly second: number;
  readonly reward: number;
  readonly baseline: number;
  readonly advantage: number;
  readonly policy_after: TwoStepPolicy;
}

export const initialTwoStepPolicy: TwoStepPolicy = {
  first: [0, 0],
  second: [
    [0, 0],
    [0, 0],
  ],
};

export function* trainTwoStep(options: TwoStepOptions): Generator<TwoStepStep> {
  const { steps, seed, lr, credit, update = TWO_STEP_UPDATES[credit] } = options;
  let policy = initialTwoStepPolicy;
  let mean = 0;
  for (let step = 1; step <= steps; step++) {
    const { first, second, reward, ...before } = playTwoStep(policy, [seed, step]);
    const baseline = options.baseline ? mean : 0;
    const advantage = reward - baseline;
    policy = update(policy, { first, second, advantage, lr });
    mean += (reward - mean) / step;
    if (![policy.first, ...policy.second].flat().every(Number.isFinite)) return;
    yield { step, ...before, first, second, reward, baseline, advantage, policy_after: policy };
  }
}

/** One episode; the draws depend only on the coordinates, so two policies get the same random numbers. */
export function playTwoStep(policy: TwoStepPolicy, coordinates: readonly (string | number)[]) {
  const firstProbabilities = softmax(policy.first);
  const first = drawAction(firstProbabilities, rngAt(...coordinates, "first"));
  const secondProbabilities = softmax(policy.second[first] as Vector);
  const second = drawAction(secondProbabilities, rngAt(...coordinates, "second"));
  const reward = rngAt(...coordinates, "reward").next() < (PAYS[first]?.[second] as number) ? 1 : 0;
  return {
    first_probabilities_before: firstProbabilities,
    second_probabilities_before: secondProbabilities,
    first,
    second,
    reward,
  };
}

/** The exact expected reward of a policy. */
export function expectedReward({ first, second }: TwoStepPolicy): number {
  return softmax(first).reduce(
    (sum, p, i) =>
      sum +
      p * softmax(second[i] as Vector).reduce((s, q, j) => s + q * (PAYS[i]?.[j] as number), 0),
    0,
  );
}
