/** sweep.json: the last validation of each run of a sweep. */

import { z } from "zod";

export const sweepPointSchema = z.strictObject({
  value: z.json(),
  run: z.string(),
  pass_rate: z.number(),
  reward_mean: z.number(),
  proxy_mean: z.number(),
  /** Null where the engine cannot measure it. */
  kl_exact: z.number().nullable(),
  entropy: z.number(),
  length_mean: z.number(),
  /** The alarm that stopped the run; null where all steps were done. */
  stopped_by: z.string().nullable(),
});

export const sweepSchema = z.strictObject({
  over: z.string(),
  algorithm: z.string(),
  points: z.array(sweepPointSchema),
});

export type SweepPoint = Readonly<z.infer<typeof sweepPointSchema>>;
export type Sweep = Readonly<z.infer<typeof sweepSchema>>;
