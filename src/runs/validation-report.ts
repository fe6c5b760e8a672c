/** What `validate-scorer --report` writes. */

import { z } from "zod";
import { hash } from "./schemas.ts";

export const VALIDATION_SCHEMA = "lockedroom.validation@2";

const tally = z.strictObject({ tried: z.int(), failed: z.int() });

export const validationReportSchema = z.strictObject({
  schema: z.literal(VALIDATION_SCHEMA),
  valid: z.boolean(),
  scorer: z.strictObject({ name: z.string(), version: z.string(), source_sha256: hash }),
  dataset_sha256: hash,
  golden_sha256: hash,
  counts: z.strictObject({
    agrees: z.int(),
    false_positive: z.int(),
    false_negative: z.int(),
    scorer_error: z.int(),
  }),
  /** Calls besides the golden rows, by kind, and how many of them failed. */
  probes: z.strictObject({ completion: tally, example_field: tally, determinism: tally }),
  /** The golden rows that got another reward than they should. */
  disagreements: z.array(
    z.strictObject({
      id: z.string(),
      completion: z.string(),
      expected_reward: z.number(),
      reward: z.number().nullable(),
      code: z.string(),
    }),
  ),
});

export type ValidationReport = z.infer<typeof validationReportSchema>;
