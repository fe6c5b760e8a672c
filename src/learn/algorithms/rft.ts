/**
 * Rejection-sampling fine-tuning: the start policy answers the data set, what its scorer rewards is
 * kept, and the loss is that of SFT on it. Left out: sampling again from the policy that was learned;
 * run it again from the new checkpoint for that.
 */

import { z } from "zod";
import type { Algorithm } from "../algorithm.ts";
import { sft, sftSettings } from "./sft.ts";

export const rftSettings = z.strictObject({
  ...sftSettings.shape,
  samples: z.int().min(1).default(8).describe("completions sampled for each prompt"),
  threshold: z.number().default(1).describe("the least reward that is kept"),
  keep: z.int().min(1).default(4).describe("at most so many for each prompt, all different"),
});

export const rft: Algorithm<z.infer<typeof rftSettings>> = {
  ...sft,
  name: "rft",
  about: "sample, keep what is rewarded, learn from it as from texts",
  needs: "passing samples",
  settings: rftSettings,
  defaults: { rate: { peak: 0.001, warmup: 5, end: 0.1, shape: "cosine" } },
};
