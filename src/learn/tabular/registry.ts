/** The reward rules of the tabular experiments by name. */

import { BANDIT } from "./bandit.ts";
import { rewardIdentity } from "./experiment.ts";
import { NAIVE } from "./goodhart.ts";
import { KL_PENALTY } from "./kl-penalty.ts";
import { TWO_STEP } from "./two-step.ts";

const REWARDS = new Map(
  [BANDIT, TWO_STEP, KL_PENALTY, NAIVE].map((reward) => [reward.name, reward]),
);

/** The current source hash of a reward rule; undefined when there is none of that name. */
export function experimentSource(name: string): string | undefined {
  const reward = REWARDS.get(name);
  return reward && rewardIdentity(reward).source_sha256;
}
