/**
 * The data files' records as schemas, for JSON Schema and for tools. Reading uses the faster checks
 * of core/records; a test holds the two together.
 */

import { z } from "zod";

const id = z.string().min(1);
const logprob = z.number().min(-1e12).max(1e12).nullable().optional();

export const exampleSchema = z.looseObject({
  id,
  prompt: z.string(),
  expected_answer: z.json().optional(),
  metadata: z.json().optional(),
});

const sample = { completion: z.string(), sum_logprob: logprob, sum_ref_logprob: logprob };

export const completionSchema = z.looseObject({ id, ...sample });

export const selectionPackSchema = z.looseObject({
  id,
  samples: z.array(z.union([z.string(), z.looseObject(sample)])),
});

export const goldenRowSchema = z.looseObject({
  id,
  completion: z.string(),
  expected_reward: z.number(),
  note: z.string().optional(),
  exploit_class: z.string().optional(),
});
