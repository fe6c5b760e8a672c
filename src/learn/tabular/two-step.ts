/**
 * Credit assignment: choose A or B, then X or Y, and only then a reward. If only the last decision
 * gets the reward, the first one never learns, although it matters most.
 */

import { rngAt } from "../../core/rng.ts";
import type { Reward } from "./reward.ts";
import { actionAt, reinforceStep, softmax, type Vector } from "./softmax.ts";

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

/** The random numbers of one episode, each from 0 up to 1: what is drawn is fixed before it is used. */
export interface TwoStepDraws {
  readonly first: number;
  readonly second: number;
  readonly reward: number;
}

export interface TwoStepTraining {
  readonly lr: number;
  /** Subtract the mean of the earlier rewards. */
  readonly baseline: boolean;
}

/** A whole program: plays an episode for each draw, updates after it, and logs it. */
export type TwoStepProgram = (
  draws: readonly TwoStepDraws[],
  training: TwoStepTraining,
) => readonly TwoStepStep[];

/** One line of log.jsonl. */
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
  const { credit, update = TWO_STEP_UPDATES[credit] } = options;
  yield* trainOnDraws(twoStepDraws(options), options, update);
}

/** Stops early if the logits are no longer finite. */
export function* trainOnDraws(
  draws: Iterable<TwoStepDraws>,
  { lr, baseline: useBaseline }: TwoStepTraining,
  update: TwoStepUpdate,
): Generator<TwoStepStep> {
  let policy = initialTwoStepPolicy;
  let mean = 0;
  let step = 0;
  for (const drawn of draws) {
    step++;
    const { first, second, reward, ...before } = playTwoStep(policy, drawn);
    const baseline = useBaseline ? mean : 0;
    const advantage = reward - baseline;
    policy = update(policy, { first, second, advantage, lr });
    mean += (reward - mean) / step;
    if (![policy.first, ...policy.second].flat().every(Number.isFinite)) return;
    yield { step, ...before, first, second, reward, baseline, advantage, policy_after: policy };
  }
}

/** The random numbers of a training, by step. */
export function* twoStepDraws({
  seed,
  steps,
}: Pick<TwoStepOptions, "seed" | "steps">): Generator<TwoStepDraws> {
  for (let step = 1; step <= steps; step++) yield drawsAt(seed, step);
}

/** They depend only on the coordinates, so two policies get the same random numbers. */
export function drawsAt(...coordinates: readonly (string | number)[]): TwoStepDraws {
  const draw = (name: keyof TwoStepDraws) => rngAt(...coordinates, name).next();
  return { first: draw("first"), second: draw("second"), reward: draw("reward") };
}

/** One episode. */
export function playTwoStep(policy: TwoStepPolicy, draws: TwoStepDraws) {
  const firstProbabilities = softmax(policy.first);
  const first = actionAt(firstProbabilities, draws.first);
  const secondProbabilities = softmax(policy.second[first] as Vector);
  const second = actionAt(secondProbabilities, draws.second);
  const reward = twoStepReward(first, second, draws.reward);
  return {
    first_probabilities_before: firstProbabilities,
    second_probabilities_before: secondProbabilities,
    first,
    second,
    reward,
  };
}

/** The world: 1 if the draw is below the probability of the path. */
export function twoStepReward(first: number, second: number, draw: number): number {
  return draw < (PAYS[first]?.[second] as number) ? 1 : 0;
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
