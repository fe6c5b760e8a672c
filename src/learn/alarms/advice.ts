/** What alarms may advise for an algorithm: only settings that it has. */

import type { Algorithm } from "../algorithm.ts";
import type { TrainSettings } from "../settings.ts";

export interface Advice {
  /** How to keep the policy near the initial one. */
  readonly closer: string;
  /** How to keep samples different. */
  readonly explore: string;
  /** What a wrong sign may be. */
  readonly sign: string;
  /** Where to look when the length of completions changes. */
  readonly length: string;
  /** How many tokens a completion may have. */
  readonly maxTokens: string;
  /** Why a gradient may be exactly 0. */
  readonly still: string;
}

export function adviceFor(
  { needs, reference }: Pick<Algorithm, "needs" | "reference">,
  { kl, algorithm }: Pick<TrainSettings, "kl" | "algorithm">,
): Advice {
  const own = (algorithm ?? {}) as Readonly<Record<string, unknown>>;
  const sampled = needs === "rollouts";
  const penalty =
    kl.mode === "none"
      ? "add a KL penalty (kl.mode=fixed)"
      : "raise the KL coefficient (kl.coefficient)";
  const beta = reference && "beta" in own ? "raise algorithm.beta" : "train for fewer steps";
  const clip = ["clip_high", "clip"].find((name) => name in own);
  return {
    closer: sampled ? penalty : beta,
    explore: [
      "lower the learning rate",
      ...(clip ? [`raise algorithm.${clip}`] : []),
      penalty,
    ].join(", "),
    sign: SIGNS[needs],
    length: "reduction" in own ? ", and check the setting algorithm.reduction" : "",
    maxTokens: sampled ? "rollouts.max_tokens" : "evaluate.max_tokens",
    still: `the completions are empty or masked, ${sampled ? "every reward equals its baseline, " : ""}or the trained weights are frozen`,
  };
}

const SIGNS: Readonly<Record<Algorithm["needs"], string>> = {
  texts: "of the loss or of the gradient",
  "passing samples": "of the loss or of the gradient",
  pairs: "of the loss, or chosen and rejected are swapped",
  labels: "of the loss, or good and bad labels are swapped",
  rollouts: "of the loss, the advantage or the reward",
};
