/** The settings that end a run before its last step. Each is a condition of its own: the first that is met counts. */

import { z } from "zod";

/** Of runs that only a judge can measure. */
export const REWARD_PLATEAU = { steps: 50, delta: 0.01 } as const;

const amount = z.number().positive().nullable().default(null);

export const stopSchema = z
  .strictObject({
    plateau: z
      .strictObject({
        steps: z
          .int()
          .min(10)
          .default(50)
          .describe("steps without improvement, with 3 validations or more in them"),
        delta: z.number().min(0).default(0).describe("smallest rise that counts as improvement"),
      })
      .nullable()
      .prefault({})
      .describe("validation no longer improves; null: never stops for it"),
    reward_plateau: z
      .strictObject({
        steps: z
          .int()
          .min(5)
          .default(REWARD_PLATEAU.steps)
          .describe("steps whose mean training reward is compared with that of as many before"),
        delta: z
          .number()
          .min(0)
          .default(REWARD_PLATEAU.delta)
          .describe("smallest rise that counts as improvement"),
      })
      .nullable()
      .optional()
      .describe(
        "the training reward no longer rises; unless set, only where a judge rewards and there are no labels",
      ),
    target: z.number().nullable().default(null).describe("validation reward that is enough"),
    margin: z
      .number()
      .min(0)
      .nullable()
      .default(null)
      .describe("how far validation is to be above the baseline, with 95 % confidence"),
    baseline: z
      .number()
      .nullable()
      .default(null)
      .describe("reward that margin is counted from; null: that of the initial policy"),
    tokens: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe("budget: tokens sampled and trained on by the updates"),
    seconds: amount.describe(
      "budget: time of updates and validations; such a run cannot be repeated exactly",
    ),
    money: amount.describe("budget: cost of the tokens, at the price"),
    price: amount.describe("price of a million tokens, for money"),
  })
  .prefault({})
  .describe("when to stop before the last step");

export type StopSettings = z.infer<typeof stopSchema>;
