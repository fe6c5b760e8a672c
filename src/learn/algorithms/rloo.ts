/**
 * RLOO: REINFORCE whose baseline is the mean reward of the prompt's other completions, which leaves
 * the gradient unbiased. A KL penalty is subtracted from the reward.
 */

import { z } from "zod";
import type { Algorithm } from "../algorithm.ts";
import { leaveOneOut } from "../parts/advantages.ts";
import { reduction } from "./common-settings.ts";
import { policyGradient, spread } from "./reinforce.ts";

export const rlooSettings = z.strictObject({
  reduction: reduction.default("sequences"),
});

export const rloo: Algorithm<z.infer<typeof rlooSettings>> = {
  name: "rloo",
  about: "policy gradient: reward minus the mean of the group's other samples",
  needs: "rollouts",
  grouped: () => true,
  settings: rlooSettings,
  defaults: { steps: 100 },
  klPlace: "reward",
  columns: { old: "token", advantage: "token" },
  reduction: ({ reduction }) => reduction,
  loss: policyGradient,
  namedLoss: "importance_sampling",
  advantages: (groups) => ({
    columns: groups.map((group) => {
      const advantages = leaveOneOut(
        group.map(({ reward }) => reward),
        group.map(({ partOf }, i) => partOf ?? i),
      );
      return group.map(({ old }, i) => ({ old, advantage: spread(advantages[i] as number, old) }));
    }),
    metrics: {},
  }),
};
