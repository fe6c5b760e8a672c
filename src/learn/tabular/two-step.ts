/**
 * Credit assignment under the microscope: choose A or B, then X or Y, and only then a reward. With
 * credit for the last decision alone the first one never learns, although it matters most.
 */

import { rngAt } from "../../core/rng.ts";
import type { Reward } from "./reward.ts";
import { drawAction, reinforceStep, softmax, type Vector } from "./softmax.ts";

export const FIRST = ["A", "B"] as const;
export const SECOND = ["X", "Y"] as const;

/** The chance of a reward after each path: B then Y is best, and A spoils everything. */
export const PAYS: readonly Vector[] = [
  [0.1, 0.3],
  [0.2, 0.9],
];

export const TWO_STEP: Reward = {
  name: "two_step_mdp",
  version: "1",
  spec: `Choose ${FIRST.join(" or ")}, then ${SECOND.join(" or ")}; the paths AX, AY, BX, BY pay 1 with chance ${PAYS.flat().join(", ")}, otherwise 0.`,
  module: import.meta.url,
};

/** Which decisions a reward at the end is credited to. */
export type Credit = "both" | "last";

export interface TwoStepOptions {
  readonly steps: number;
  readonly seed: number;
  readonly lr: number;
  readonly baseline: boolean;
  readonly credit: Credit;
  /** An update of one's own in place of the built-in one. */
  readonly update?: TwoStepUpdate | undefined;
}

/** Logits of the first decision, and of the second after each first. */
export interface TwoStepPolicy {
  readonly first: Vector;
  readonly second: readonly Vector[];
}

/** One played episode, as the update of the policy sees it. */
export interface TwoStepEpisode {
  /** Indices into `FIRST` and `SECOND`. */
  readonly first: number;
  readonly second: number;
  readonly advantage: number;
  readonly lr: number;
}

/** What an episode makes of the policy. */
export type TwoStepUpdate = (policy: TwoStepPolicy, episode: TwoStepEpisode) => TwoStepPolicy;

/** REINFORCE with credit for both decisions, or for the last one only. */
export const TWO_STEP_UPDATES: Record<Credit, TwoStepUpdate> = {
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

export const startPolicy: TwoStepPolicy = {
  first: [0, 0],
  second: [
    [0, 0],
    [0, 0],
  ],
};

export function* trainTwoStep(options: TwoStepOptions): Generator<TwoStepStep> {
  const { steps, seed, lr, credit, update = TWO_STEP_UPDATES[credit] } = options;
  let policy = startPolicy;
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

/** One episode; the draws depend on its address alone, so that two policies meet the same luck. */
export function playTwoStep(policy: TwoStepPolicy, address: readonly (string | number)[]) {
  const firstProbabilities = softmax(policy.first);
  const first = drawAction(firstProbabilities, rngAt(...address, "first"));
  const secondProbabilities = softmax(policy.second[first] as Vector);
  const second = drawAction(secondProbabilities, rngAt(...address, "second"));
  const reward = rngAt(...address, "reward").next() < (PAYS[first]?.[second] as number) ? 1 : 0;
  return {
    first_probabilities_before: firstProbabilities,
    second_probabilities_before: secondProbabilities,
    first,
    second,
    reward,
  };
}

/** The expected reward of a policy, exactly. */
export function expectedReward({ first, second }: TwoStepPolicy): number {
  return softmax(first).reduce(
    (sum, p, i) =>
      sum +
      p * softmax(second[i] as Vector).reduce((s, q, j) => s + q * (PAYS[i]?.[j] as number), 0),
    0,
  );
}
