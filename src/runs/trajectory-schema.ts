/** A line of trajectories.jsonl: one episode. */

import { z } from "zod";
import type { Trajectory } from "../core/trajectory.ts";
import { assistantMessage, observedMessages } from "./episode-schema.ts";
import { JsonlFile, type ReadOptions } from "./jsonl.ts";
import { count, jsonObject } from "./schema-parts.ts";
import { parseWith } from "./whole-file.ts";

const sampled = z.strictObject({
  token_ids: z.array(count).nullable(),
  logprobs: z.array(z.number()).nullable(),
  sampled_logprobs: z.array(z.number()).optional(),
  finish: z.string(),
  prompt_tokens: count.nullable(),
  completion_tokens: count.nullable(),
});

const message = z.discriminatedUnion("role", [
  ...observedMessages,
  assistantMessage.extend({ sampled }),
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

export function toTrajectory(fields: Record<string, unknown>): Trajectory {
  return parseWith(trajectorySchema, fields);
}

/** A pass over the trajectories of a file; the error of a bad line names the line and the field. */
export function readTrajectories(path: string, options: ReadOptions = {}): JsonlFile<Trajectory> {
  return new JsonlFile(path, toTrajectory, options);
}
