/** The gate's report, as `gate --format json` prints it. */

import { z } from "zod";

export const GATE_SCHEMA = "lockedroom.gate@1";

const value = z.json();
const knob = z.enum(["measurement", "selection", "policy", "environment"]);

export const reasonSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  baseline: value,
  candidate: value,
});

const side = z.strictObject({
  run: z.string(),
  pass_rate: z.number().nullable(),
  mean_reward: z.number().nullable(),
  n_scored: z.int(),
});

export const gateReportSchema = z.strictObject({
  schema: z.literal(GATE_SCHEMA),
  decision: z.enum(["PROMOTE", "REJECT", "INCONCLUSIVE"]),
  exit_code: z.int(),
  comparable: z.boolean(),
  knobs: z.array(knob),
  claim: knob.nullable(),
  reasons: z.array(reasonSchema),
  /** Things to know that did not decide. */
  notes: z.array(z.string()),
  baseline: side,
  candidate: side,
  /** Null when the runs are not comparable: there is no difference between unlike things. */
  delta: z.number().nullable(),
  ci: z.strictObject({ low: z.number(), high: z.number(), confidence: z.number() }).nullable(),
  p_value: z.number().nullable(),
  test: z.enum(["mcnemar_exact", "sign_flip"]).nullable(),
  minimum_detectable_effect: z.number().nullable(),
  flips: z
    .strictObject({
      gained: z.int(),
      lost: z.int(),
      first: z.array(
        z.strictObject({
          id: z.string(),
          baseline: z.string(),
          candidate: z.string(),
          change: z.number(),
        }),
      ),
    })
    .nullable(),
  min_delta: z.number(),
  alpha: z.number(),
});

/** What `gate` found: the decision, its reasons and the figures behind it. @see {@link gate} */
export type GateReport = z.infer<typeof gateReportSchema>;
export type Reason = z.infer<typeof reasonSchema>;
export type Decision = GateReport["decision"];
