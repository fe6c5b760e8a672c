/**
 * Level 2: two decisions, one reward at the end. First A or B, then X or Y. You write the whole
 * program, in this order: update, reward (the world), sample, train (the loop and its log). Locked
 * Room gives the random numbers and writes the run.
 *
 *   ./lockedroom run assignments/two_step_mdp_demo.ts --steps 200 --seed 0 \
 *     --baseline --outdir runs/l2_build_two_step
 *
 * A decision is an index: 0 for A, 1 for B; 0 for X, 1 for Y. `policy.first` has the logits of A and
 * B, `policy.second[0]` those of X and Y after A, `policy.second[1]` those after B.
 */

import { parseArgs } from "node:util";
import { isProgram } from "lockedroom/extensions";
import {
  runTwoStep,
  softmax,
  type TwoStepDraws,
  type TwoStepEpisode,
  type TwoStepPolicy,
  type TwoStepStep,
  type TwoStepTraining,
} from "lockedroom/learn";

/** Before the first episode. */
const START: TwoStepPolicy = {
  first: [0, 0],
  second: [
    [0, 0],
    [0, 0],
  ],
};

/**
 * First: one REINFORCE update. `episode.first` and `episode.second` are the decisions that were
 * sampled, `episode.advantage` is the reward minus the baseline, `episode.lr` the learning rate.
 * Both decisions get the same advantage. Return a new policy; do not change the argument.
 * `softmax(logits)` gives probabilities.
 */
export function update(policy: TwoStepPolicy, episode: TwoStepEpisode): TwoStepPolicy {
  void [policy, episode, softmax];
  throw new Error("update is not written yet; see level 2");
}

/**
 * The world. The paths AX, AY, BX, BY have reward 1 with probability 0.1, 0.3, 0.2, 0.9, otherwise 0.
 * `draw` is a random number from 0 up to 1; the reward is 1 if it is below the path's probability.
 */
export function reward(first: number, second: number, draw: number): number {
  void [first, second, draw];
  throw new Error("reward is not written yet; see level 2");
}

/**
 * Sampling: the index of the option that is chosen with these logits. The probabilities of the
 * options, in their order, divide the interval from 0 to 1; `draw` lies in the part of one of them.
 */
export function sample(logits: readonly number[], draw: number): number {
  void [logits, draw];
  throw new Error("sample is not written yet; see level 2");
}

/**
 * The loop: one episode for each element of `draws`, in order. Sample the first decision with
 * `draws[i].first`, the second one (with the logits that belong to the first) with
 * `draws[i].second`, the reward with `draws[i].reward`; then update, starting from START. The
 * baseline is the mean of the earlier rewards, 0 in the first episode, and always 0 if `baseline`
 * is false. Return the log, one line for each episode:
 *   { step, first_probabilities_before, second_probabilities_before, first, second,
 *     reward, baseline, advantage, policy_after }
 * `step` counts from 1; second_probabilities_before are those after the first decision that was made.
 */
export function train(
  draws: readonly TwoStepDraws[],
  { lr, baseline }: TwoStepTraining,
): TwoStepStep[] {
  void [draws, lr, baseline, START];
  throw new Error("train is not written yet; see level 2");
}

// Runs only when this file is the program, not when a test imports it.
if (isProgram(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      steps: { type: "string", default: "200" },
      seed: { type: "string", default: "0" },
      lr: { type: "string", default: "0.5" },
      baseline: { type: "boolean", default: false },
      outdir: { type: "string" },
      force: { type: "boolean", default: false },
    },
  });
  if (values.outdir === undefined) throw new Error("name a folder for the run with --outdir");
  const { dir, summary } = await runTwoStep({
    steps: Number(values.steps),
    seed: Number(values.seed),
    lr: Number(values.lr),
    baseline: values.baseline,
    outdir: values.outdir,
    force: values.force,
    credit: "both",
    program: train,
    module: import.meta.url,
  });
  const { verdict, expected_reward: expected } = summary.metrics;
  console.log(`${verdict}\nexpected reward ${Number(expected).toFixed(4)}\nRun written to ${dir}`);
}
