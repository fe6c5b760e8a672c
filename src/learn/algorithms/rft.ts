/**
 * Rejection-sampling fine-tuning: samples completions, or episodes of an environment, from the initial
 * policy, keeps those with a high reward, and trains on the policy's own tokens with the SFT loss. Left
 * out: sampling again from the trained policy; for
 * that, run it again from the new checkpoint.
 */

import { z } from "zod";
import type { Algorithm } from "../algorithm.ts";
import { sft, sftSettings } from "./sft.ts";

export const rftSettings = z.strictObject({
  ...sftSettings.shape,
  samples: z.int().min(1).default(8).describe("completions sampled per prompt"),
  threshold: z
    .number()
    .nullable()
    .default(1)
    .describe(
      "minimum reward to keep a sample; null: better than the mean of its prompt's samples",
    ),
  keep: z
    .int()
    .min(1)
    .default(4)
    .describe("maximum different samples kept per prompt, the best first"),
});

export const rft: Algorithm<z.infer<typeof rftSettings>> = {
  ...sft,
  name: "rft",
  about: "rejection sampling: sample, keep rewarded completions, then SFT",
  needs: "passing samples",
  settings: rftSettings,
  defaults: { steps: 300, rate: { peak: 0.001, warmup: 5, end: 0.1, shape: "cosine" } },
};
