/** The messages of an episode as chat models exchange them: what was asked, and what followed. */

import { canonicalJson, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { EpisodeMessage } from "../core/replay.ts";
import type { TrajectoryMessage } from "../core/trajectory.ts";
import { toChat } from "../formats/chat.ts";
import type { Attempt } from "./task.ts";

export interface Conversation {
  readonly prompt: readonly JsonObject[];
  readonly answer: readonly JsonObject[];
  readonly turnRewards: NonNullable<Attempt["turnRewards"]>;
}

/** What follows the last answer is left out: nobody answered it. */
export function conversationOf(messages: readonly EpisodeMessage[]): Conversation {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const said = withNativeCalls(messages).slice(0, last + 1);
  const first = said.findIndex(({ role }) => role === "assistant");
  return {
    prompt: said.slice(0, first),
    answer: said.slice(first),
    turnRewards: messages.flatMap((one) => (one.role === "assistant" ? [one.reward] : [])),
  };
}

/**
 * A call that was made as text becomes a call, because these formats know no other. The reply to
 * something that was no call becomes a user message: a tool message must name its call.
 */
function withNativeCalls(messages: readonly EpisodeMessage[]): JsonObject[] {
  const said: JsonObject[] = [];
  let calls = 0;
  /** The id of a call made as text, until it is answered. */
  let open: string | undefined;
  for (const [i, message] of messages.entries()) {
    if (message.role === "tool" && message.tool_call_id === undefined) {
      const { content } = message;
      said.push(
        open === undefined
          ? { role: "user", content }
          : { role: "tool", tool_call_id: open, content },
      );
      open = undefined;
      continue;
    }
    open = undefined;
    const called = answeredCall(message, messages[i + 1]);
    if (called) {
      open = `call_${++calls}`;
      const made = { name: called.tool, arguments: canonicalJson(called.arguments) };
      const call = { id: open, type: "function", function: made };
      said.push({ role: "assistant", content: "", tool_calls: [call] });
    } else said.push(toChat(message as TrajectoryMessage, "text"));
  }
  return said;
}

/** The call in the text of a message that a tool answers. */
function answeredCall(message: EpisodeMessage, next: EpisodeMessage | undefined) {
  if (message.role !== "assistant" || message.tool_calls) return undefined;
  if (next?.role !== "tool" || next.tool_call_id !== undefined) return undefined;
  try {
    const { tool, arguments: given } = JSON.parse(message.content);
    return typeof tool === "string" && isFields(given) ? { tool, arguments: given } : undefined;
  } catch {
    return undefined;
  }
}

/** Of a run of single answers. */
export function answered(completion: string): JsonObject[] {
  return [{ role: "assistant", content: completion }];
}

export function asked(prompt: string): JsonObject[] {
  return [{ role: "user", content: prompt }];
}
