/** Checks a list of messages: roles, contents, weights, calls of tools and their answers. */

import { isFields } from "../../core/records.ts";
import type { Report } from "../rules.ts";
import { short } from "./short.ts";
import { checkCalls } from "./tool-calls.ts";

type Fields = Record<string, unknown>;

export interface MessageRules {
  readonly roles: ReadonlySet<unknown>;
  /** Whether user messages may show images. */
  readonly images: boolean;
  /** Whether assistant messages may have a weight. */
  readonly weights: boolean;
  /** Whether the last message may call tools that nobody answers. */
  readonly mayEndInCall: boolean;
  /** Reports a role that is not one of `roles`. */
  wrongRole(role: unknown, where: string): void;
}

const FIELDS: ReadonlySet<string> = new Set([
  ...["role", "content", "name", "weight", "tool_calls", "tool_call_id", "refusal"],
]);

/** What a list of messages has; undefined where it is no such list. */
export interface Seen {
  readonly assistants: number;
  /** Assistant messages whose weight is not 0. */
  readonly learned: number;
  readonly lastRole: unknown;
}

/** `where` names the list in reasons, such as `input.messages`. */
export function checkMessages(
  list: unknown,
  where: string,
  rules: MessageRules,
  tools: ReadonlySet<string> | undefined,
  report: Report,
): Seen | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  let [assistants, learned] = [0, 0];
  /** Calls of the last assistant message that no tool has answered yet. */
  let open: string[] = [];
  let lastRole: unknown;
  for (let i = 0; i < list.length; i++) {
    const message: unknown = list[i];
    if (!isFields(message) || typeof message.role !== "string") {
      report("message_shape", `${where}[${i}] is not an object with a role`);
      lastRole = undefined;
      continue;
    }
    const { role } = message;
    lastRole = role;
    if (!rules.roles.has(role)) rules.wrongRole(role, `${where}[${i}]`);
    if (role === "tool") {
      open = answered(open, message, `${where}[${i}]`, report);
    } else {
      if (open.length > 0) unanswered(open, where, i, report);
      open = [];
    }
    if (role === "assistant") {
      assistants++;
      if (message.weight !== 0) learned++;
      if (message.tool_calls !== undefined && message.tool_calls !== null)
        open = checkCalls(message.tool_calls, `${where}[${i}]`, tools, report);
    } else if (message.tool_calls !== undefined) {
      report("tool_calls_shape", `${where}[${i}] has tool_calls, and its role is ${short(role)}`);
    }
    checkContent(message, where, i, rules, report);
    if (message.weight !== undefined) checkWeight(message, where, i, rules, report);
    for (const name in message) {
      if (!FIELDS.has(name)) unknownField(name, `${where}[${i}]`, report);
    }
  }
  const endsInCall = rules.mayEndInCall && lastRole === "assistant";
  if (open.length > 0 && !endsInCall) unanswered(open, where, list.length, report);
  return { assistants, learned, lastRole };
}

function unanswered(open: readonly string[], where: string, at: number, report: Report): void {
  const ids = open.map(short).join(", ");
  report("tool_unanswered", `no tool message before ${where}[${at}] answers the call ${ids}`);
}

function answered(open: string[], message: Fields, where: string, report: Report): string[] {
  const { tool_call_id: id } = message;
  if (typeof id !== "string" || id === "") {
    report("tool_unasked", `${where} has no tool_call_id`);
    return open;
  }
  if (!open.includes(id))
    report("tool_unasked", `${where} answers ${short(id)}, which is no open call before it`);
  return open.filter((one) => one !== id);
}

function checkContent(
  message: Fields,
  where: string,
  at: number,
  { images }: MessageRules,
  report: Report,
): void {
  const { role, content, tool_calls: calls, function_call: called } = message;
  const calling = role === "assistant" && (calls ?? called) !== undefined && calls !== null;
  if (typeof content === "string") {
    if (content === "" && role === "assistant" && !calling)
      report("empty_answer", `${where}[${at}] is empty`);
    return;
  }
  if (content === undefined || content === null) {
    const refused = role === "assistant" && typeof message.refusal === "string";
    if (!calling && !refused) report("content", `${where}[${at}] has no content`);
    return;
  }
  if (!Array.isArray(content)) {
    report("content", `the content of ${where}[${at}] is neither text nor a list of parts`);
    return;
  }
  for (const part of content as unknown[]) {
    const type = isFields(part) ? part.type : undefined;
    if (type === "text" && typeof (part as Fields).text === "string") continue;
    if (type === "refusal" && role === "assistant") continue;
    if (type !== "image_url") {
      report("content", `the content of ${where}[${at}] has a part that is not text`);
    } else if (!images) report("images", `${where}[${at}] has an image`);
    else if (role !== "user")
      report("content", `${where}[${at}] has an image, and is not the user's`);
  }
}

function checkWeight(
  { role, weight }: Fields,
  where: string,
  at: number,
  { weights }: MessageRules,
  report: Report,
): void {
  if (role !== "assistant" || !weights) {
    report("weight_place", `${where}[${at}] has a weight`);
  } else if (weight !== 0 && weight !== 1) {
    report("weight_value", `${where}[${at}].weight is ${short(weight)}, not 0 or 1`);
  }
}

export function unknownField(name: string, where: string, report: Report): void {
  if (name === "functions" || name === "function_call") {
    const instead = name === "functions" ? "tools" : "tool_calls";
    report("deprecated_field", `${where} has ${name}; write ${instead}`);
  } else report("unknown_field", `${where} has the field ${short(name)}`);
}
