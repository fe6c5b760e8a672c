/**
 * Level 2: two decisions, one reward at the end. First A or B, then X or Y; the paths pay differently
 * and nothing is paid before the end. The world and the log are Locked Room's; the update is yours.
 *
 *   ./lockedroom run assignments/two_step_mdp_demo.ts --steps 200 --seed 0 \
 *     --baseline --outdir runs/l2_build_two_step
 */

import { parseArgs } from "node:util";
import { isProgram } from "lockedroom/extensions";
import { runTwoStep, softmax, type TwoStepEpisode, type TwoStepPolicy } from "lockedroom/learn";

/**
 * One REINFORCE update. `policy.first` holds the logits of A and B; `policy.second[0]` those of X and
 * Y after A, `policy.second[1]` after B. `episode.first` and `episode.second` are the indices that
 * were drawn, `episode.advantage` is the reward minus the baseline, `episode.lr` the learning rate.
 * Return a new policy; do not change the one you were given. `softmax(logits)` gives probabilities.
 */
export function update(policy: TwoStepPolicy, episode: TwoStepEpisode): TwoStepPolicy {
  void softmax;
  throw new Error(`update is yours to write (${JSON.stringify({ policy, episode })}); see level 2`);
}

// What follows runs only when this file is the program, not when a test imports it.
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
    update,
    module: import.meta.url,
  });
  const { verdict, expected_reward: expected } = summary.metrics;
  console.log(`${verdict}\nexpected reward ${Number(expected).toFixed(4)}\nRun written to ${dir}`);
}
