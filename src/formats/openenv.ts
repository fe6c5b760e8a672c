/** OpenEnv's `results.jsonl`, which `openenv collect` writes: one episode a line. */

import { z } from "zod";
import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { fromChat, toChat } from "./chat.ts";
import { type EpisodeCoding, episodeFormat, OWN, type Place } from "./format.ts";
import { openAiTool } from "./openai-tool.ts";
import { episodeName, outcomeFields, outcomeOf } from "./outcome.ts";
import { anything, parsed } from "./parsed.ts";

const recordSchema = z.looseObject({
  episode_id: z.string(),
  messages: z.array(anything),
  reward: z.number().nullable(),
  done: z.boolean(),
  metrics: z.record(z.string(), anything).optional(),
  task: anything,
  extra: anything,
});

const coding: EpisodeCoding = {
  encode(trajectory, { tools }) {
    const { id, messages, reward, terminated, metrics } = trajectory;
    return {
      episode_id: episodeName(trajectory),
      messages: messages.map((message) => toChat(message, "text")),
      reward,
      done: terminated,
      tool_trace: toolTrace(messages),
      metrics,
      verify_metrics: {},
      artifacts: {},
      task: id,
      extra: {
        ...outcomeFields(trajectory),
        ...(tools.length > 0 && { tools: tools.map(openAiTool) }),
      },
    };
  },

  decode(record: JsonObject, place: Place): Trajectory {
    const found = parsed(recordSchema, record, "not an episode of OpenEnv");
    const outcome = outcomeOf(found.extra, taskName(found.task) ?? found.episode_id, place);
    const metrics = Object.entries(found.metrics ?? {}).filter(
      (entry): entry is [string, number] => typeof entry[1] === "number",
    );
    return {
      ...outcome,
      terminated: found.done,
      messages: found.messages.map((message, i) => fromChat(message, `message ${i + 1}`)),
      segments: null,
      reward: found.reward,
      metrics: Object.fromEntries(metrics),
    };
  },

  withRest: (record, rest) => ({
    ...record,
    extra: { ...(record.extra as JsonObject), [OWN]: rest },
  }),
  restOf: ({ extra }) => (isFields(extra) ? extra[OWN] : undefined),
};

function taskName(task: unknown): string | undefined {
  if (typeof task === "string") return task;
  return isFields(task) && typeof task.id === "string" ? task.id : undefined;
}

/** Every call with the reply that names it. */
function toolTrace(messages: readonly TrajectoryMessage[]): Json[] {
  const replies = new Map(
    messages.flatMap((message) =>
      message.role === "tool" && message.tool_call_id !== undefined
        ? [[message.tool_call_id, message.content] as const]
        : [],
    ),
  );
  return messages.flatMap((message) =>
    message.role !== "assistant"
      ? []
      : (message.tool_calls ?? []).map((call) => ({
          tool_name: call.name,
          arguments: call.arguments,
          result: { data: replies.get(call.id) ?? null, done: false, metadata: {}, error: null },
        })),
  );
}

export const openenv = episodeFormat(coding, {
  name: "openenv",
  about: "results.jsonl of openenv collect, one episode a line",
  missing:
    'outcome code ("imported"), rewards of single turns, token ids, log-probs, and the address of randomness (none)',
});
