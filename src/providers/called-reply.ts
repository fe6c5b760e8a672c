/** A chat answer as a turn of an episode: a native call of a tool becomes the text of an action. */

import type { Reply } from "../core/actor.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { ChatAnswer, WrittenCall } from "./chat-answer.ts";

/** Text without a call is the action as it is. `id` is for a call that has none of its own. */
export function calledReply({ calls, ...answer }: ChatAnswer, id: string): Reply {
  const [call, ...others] = calls;
  if (!call) return answer;
  const logs =
    others.length === 0 ? [] : [`${calls.length} calls in one turn; only the first was made`];
  const said = answer.completion.trim() === "" ? {} : { said: answer.completion };
  const given = argumentsOf(call);
  if (!given) {
    const written = `{"tool":${JSON.stringify(call.name)},"arguments":${call.arguments}}`;
    return {
      ...{ ...answer, ...said, completion: written },
      logs: [...logs, "the arguments of the call are not a JSON object"],
    };
  }
  return {
    ...{ ...answer, ...said },
    completion: canonicalJson({ tool: call.name, arguments: given }),
    tool_calls: [{ id: call.id || id, name: call.name, arguments: given }],
    ...(logs.length > 0 && { logs }),
  };
}

/** Undefined for what is no JSON object; endpoints write nothing for a call without arguments. */
function argumentsOf({ arguments: written }: WrittenCall): JsonObject | undefined {
  if (written.trim() === "") return {};
  try {
    const given: unknown = JSON.parse(written);
    if (!isFields(given)) return undefined;
    canonicalJson(given);
    return given as JsonObject;
  } catch {
    return undefined;
  }
}
