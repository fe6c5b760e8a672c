/** What `sabotage run --format json` prints. */

import { z } from "zod";

export const SABOTAGE_SCHEMA = "lockedroom.sabotage@1";

export const sabotageResultSchema = z.strictObject({
  name: z.string(),
  family: z.string(),
  trick: z.string(),
  /** The same without the trick. */
  honest: z.string(),
  /** What the catalogue says: "gate: seeds_differ", or "nothing". */
  expected: z.string(),
  /** What caught it; null: nothing did. */
  caught: z.strictObject({ check: z.string(), code: z.string(), message: z.string() }).nullable(),
  /** Why nothing catches it, where the catalogue says so. */
  because: z.string().nullable(),
  /** Everything else that objected, as "check: code". */
  also: z.array(z.string()),
  /** How the honest twin ended, and whether it was refused for the same reason. */
  twin: z.strictObject({ verdict: z.string(), refused: z.boolean() }),
  as_expected: z.boolean(),
});

export const sabotageReportSchema = z.strictObject({
  schema: z.literal(SABOTAGE_SCHEMA),
  results: z.array(sabotageResultSchema),
  as_expected: z.boolean(),
});

/** What became of one sabotage. @see {@link runSabotages} */
export type SabotageResult = z.infer<typeof sabotageResultSchema>;
export type SabotageReport = z.infer<typeof sabotageReportSchema>;
