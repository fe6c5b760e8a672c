/** The microscopes' rules by name. */

import { BANDIT } from "./bandit.ts";
import { rewardIdentity } from "./experiment.ts";
import { NAIVE } from "./goodhart.ts";
import { LEASH } from "./kl.ts";
import { TWO_STEP } from "./two-step.ts";

const REWARDS = new Map([BANDIT, TWO_STEP, LEASH, NAIVE].map((reward) => [reward.name, reward]));

/** The current source hash of a microscope's rule; undefined when there is none of that name. */
export function experimentSource(name: string): string | undefined {
  const reward = REWARDS.get(name);
  return reward && rewardIdentity(reward).source_sha256;
}
