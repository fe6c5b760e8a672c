/** A line of trajectories.jsonl: one episode, or why there is none. */

import { z } from "zod";
import type { RolloutFailure, Trajectory } from "../core/trajectory.ts";
import { JsonlFile, type ReadOptions } from "./jsonl.ts";
import { count, jsonObject } from "./schemas.ts";

const toolCall = z.strictObject({ id: z.string(), name: z.string(), arguments: jsonObject });

const sampled = z.strictObject({
  token_ids: z.array(count).nullable(),
  logprobs: z.array(z.number()).nullable(),
  sampled_logprobs: z.array(z.number()).optional(),
  finish: z.string(),
  prompt_tokens: count.nullable(),
  completion_tokens: count.nullable(),
});

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.string() }),
  z.strictObject({
    role: z.literal("tool"),
    content: z.string(),
    tool_call_id: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    tool_calls: z.array(toolCall).optional(),
    sampled,
    reward: z.number().nullable(),
  }),
]);

const tokenRow = z.strictObject({
  tokens: z.array(count),
  actions: z.array(z.tuple([count, count])),
});

export const trajectorySchema = z.strictObject({
  id: z.string(),
  sample: count,
  address: z.array(z.union([z.string(), z.number()])),
  messages: z.array(message),
  segments: z.array(tokenRow).nullable(),
  reward: z.number().nullable(),
  code: z.string(),
  terminated: z.boolean(),
  metrics: z.record(z.string(), z.number()),
  metadata: jsonObject,
  logs: z.array(z.string()),
}) satisfies z.ZodType<Trajectory>;

/** A line of failures.jsonl. */
export const rolloutFailureSchema = z.strictObject({
  ...{ id: z.string(), sample: count, type: z.string(), message: z.string() },
}) satisfies z.ZodType<RolloutFailure>;

/** A pass over the trajectories of a file; the error of a bad line names the line and the field. */
export function readTrajectories(path: string, options: ReadOptions = {}): JsonlFile<Trajectory> {
  const parse = (fields: Record<string, unknown>) => {
    const parsed = trajectorySchema.safeParse(fields);
    if (parsed.success) return parsed.data;
    throw new TypeError(z.prettifyError(parsed.error));
  };
  return new JsonlFile(path, parse, options);
}
