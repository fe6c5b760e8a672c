/** Messages as chat models exchange them, in the form that OpenAI's interface made common. */

import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { SampledTurn, ToolCall, TrajectoryMessage } from "../core/trajectory.ts";
import { UNSAID } from "./format.ts";

export type AssistantMessage = Extract<TrajectoryMessage, { role: "assistant" }>;

/** Where a call's arguments are JSON in a string, and where an object. */
export type ArgumentForm = "text" | "object";

/** Chat messages need the id of the call: a call that was made as text has none. */
const NO_CALL = "";

export function toChat(message: TrajectoryMessage, form: ArgumentForm): JsonObject {
  const { role, content } = message;
  if (role === "tool") return { role, content, tool_call_id: message.tool_call_id ?? NO_CALL };
  if (role !== "assistant" || message.tool_calls === undefined) return { role, content };
  return {
    role,
    content: spokenText(message),
    tool_calls: message.tool_calls.map((call) => toChatCall(call, form)),
  };
}

function toChatCall({ id, name, arguments: given }: ToolCall, form: ArgumentForm): JsonObject {
  const written = form === "text" ? canonicalJson(given) : given;
  return { id, type: "function", function: { name, arguments: written } };
}

/** What was said besides the call: an action that is the text of its only call says nothing more. */
export function spokenText({
  content,
  tool_calls: calls = [],
}: Pick<AssistantMessage, "content" | "tool_calls">): string {
  return calls.length === 1 && isTextOf(content, calls[0] as ToolCall) ? "" : content;
}

function isTextOf(content: string, call: ToolCall): boolean {
  try {
    return canonicalJson(JSON.parse(content)) === callText(call);
  } catch {
    return false;
  }
}

function callText({ name, arguments: given }: ToolCall): string {
  return canonicalJson({ tool: name, arguments: given });
}

/** The action that an environment is given for what was said and called. */
export function actionText(spoken: string, calls: readonly ToolCall[] | undefined): string {
  return spoken === "" && calls?.length === 1 ? callText(calls[0] as ToolCall) : spoken;
}

const UNSAMPLED: SampledTurn = {
  ...{ token_ids: null, logprobs: null, finish: UNSAID.finish },
  ...{ prompt_tokens: null, completion_tokens: null },
};

/** `where` begins the sentence of an error, such as "message 3". */
export function fromChat(
  given: unknown,
  where: string,
  turn: Partial<Pick<AssistantMessage, "sampled" | "reward">> = {},
): TrajectoryMessage {
  if (!isFields(given)) throw new TypeError(`${where} is not an object`);
  const { role } = given;
  const content = contentOf(given.content, where);
  if (role === "system" || role === "user") return { role, content };
  if (role === "tool") {
    const { tool_call_id: id } = given;
    const named = typeof id === "string" && id !== NO_CALL;
    return { role, content, ...(named && { tool_call_id: id }) };
  }
  if (role === "assistant") {
    const calls = callsOf(given.tool_calls, where);
    return {
      role,
      content: actionText(content, calls),
      ...(calls && { tool_calls: calls }),
      sampled: turn.sampled ?? UNSAMPLED,
      reward: turn.reward ?? null,
    };
  }
  throw new TypeError(
    `${where} has the role ${JSON.stringify(role)}; known are system, user, assistant and tool`,
  );
}

/** A list of parts is read as its texts, joined. */
export function contentOf(given: unknown, where: string): string {
  if (typeof given === "string") return given;
  if (given === null || given === undefined) return "";
  if (!Array.isArray(given)) throw new TypeError(`the content of ${where} is not text`);
  return given
    .map((part: unknown) => {
      if (isFields(part) && typeof part.text === "string") return part.text;
      throw new TypeError(`${where} has content that is not text, which a trajectory cannot hold`);
    })
    .join("");
}

/** Calls with their name and arguments under `function`, or beside their id. */
export function callsOf(given: unknown, where: string): ToolCall[] | undefined {
  if (given === null || given === undefined) return undefined;
  if (!Array.isArray(given)) throw new TypeError(`the tool_calls of ${where} are not a list`);
  return given.map((call: unknown, i) => {
    const place = `tool call ${i + 1} of ${where}`;
    if (!isFields(call)) throw new TypeError(`${place} is not an object`);
    const made = isFields(call.function) ? call.function : call;
    const name = made.name ?? made.function_name;
    if (typeof name !== "string") throw new TypeError(`${place} has no name`);
    const id = call.id ?? call.tool_call_id ?? `call_${i + 1}`;
    return { id: String(id), name, arguments: argumentsOf(made.arguments, place) };
  });
}

function argumentsOf(given: unknown, place: string): JsonObject {
  let found = given;
  if (typeof given === "string") {
    try {
      found = JSON.parse(given);
    } catch {
      found = undefined;
    }
  }
  if (isFields(found)) return found as { [key: string]: Json };
  throw new TypeError(`the arguments of ${place} are not a JSON object`);
}
