/** sweep.json: the last validation of each run of a sweep. tradeoff.json: two measures of them. */

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
  /** The alarm or the condition that stopped the run; null where all steps were done. */
  stopped_by: z.string().nullable(),
});

export const sweepSchema = z.strictObject({
  over: z.string(),
  algorithm: z.string(),
  points: z.array(sweepPointSchema),
});

const measure = z.strictObject({
  /** As `sweep --tradeoff` names it. */
  name: z.string(),
  label: z.string(),
  unit: z.string(),
  better: z.enum(["higher", "lower"]),
});

export const tradeoffSchema = z.strictObject({
  over: z.string(),
  algorithm: z.string(),
  x: measure,
  y: measure,
  points: z.array(
    z.strictObject({
      value: z.json(),
      /** The folder of the run, within that of the sweep. */
      run: z.string(),
      /** Null where the run does not have the measure. */
      x: z.number().nullable(),
      y: z.number().nullable(),
      /** Whether no other point is at least as good in both and better in one; null where not compared. */
      pareto: z.boolean().nullable(),
    }),
  ),
});

export type Tradeoff = Readonly<z.infer<typeof tradeoffSchema>>;
export type SweepPoint = Readonly<z.infer<typeof sweepPointSchema>>;
export type Sweep = Readonly<z.infer<typeof sweepSchema>>;
