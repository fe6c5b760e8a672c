/** Messages of an episode, and why there is none: in trajectories, and in rows of evaluations. */

import { z } from "zod";
import type { EpisodeMessage } from "../core/replay.ts";
import type { RolloutFailure } from "../core/trajectory.ts";
import { count, jsonObject } from "./schema-parts.ts";

const toolCall = z.strictObject({ id: z.string(), name: z.string(), arguments: jsonObject });

export const observedMessages = [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.string() }),
  z.strictObject({
    role: z.literal("tool"),
    content: z.string(),
    tool_call_id: z.string().optional(),
  }),
] as const;

export const assistantMessage = z.strictObject({
  role: z.literal("assistant"),
  content: z.string(),
  tool_calls: z.array(toolCall).optional(),
  reward: z.number().nullable(),
});

export const episodeMessageSchema = z.discriminatedUnion("role", [
  ...observedMessages,
  assistantMessage,
]) satisfies z.ZodType<EpisodeMessage>;

/** A line of failures.jsonl. */
export const rolloutFailureSchema = z.strictObject({
  ...{ id: z.string(), sample: count, type: z.string(), message: z.string() },
}) satisfies z.ZodType<RolloutFailure>;
