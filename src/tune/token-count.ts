/** Tokens of a row as a chat model reads it. */

import { isFields } from "../core/records.ts";
import type { TuneKind } from "./kinds.ts";
import { outputsOf } from "./row-identity.ts";

export type CountTokens = (text: string) => number;

/** What a chat format adds to each message, and to the whole for the answer that follows. */
const PER_MESSAGE = 3;
const PER_NAME = 1;
const PER_CONVERSATION = 3;

/** Of everything in the row that a model reads or learns; images count nothing. */
export function rowTokens(
  kind: TuneKind,
  fields: Readonly<Record<string, unknown>>,
  count: CountTokens,
): number {
  if (kind !== "dpo") return conversationTokens(fields, [fields.messages], count);
  const { preferred, other } = outputsOf(fields);
  const input = isFields(fields.input) ? fields.input : {};
  return [preferred, other].reduce(
    (sum: number, output) => sum + conversationTokens(input, [input.messages, output], count),
    0,
  );
}

function conversationTokens(
  { tools }: Readonly<Record<string, unknown>>,
  lists: readonly unknown[],
  count: CountTokens,
): number {
  let total = PER_CONVERSATION;
  if (Array.isArray(tools) && tools.length > 0) total += count(JSON.stringify(tools));
  for (const list of lists) {
    if (Array.isArray(list)) for (const message of list) total += messageTokens(message, count);
  }
  return total;
}

function messageTokens(message: unknown, count: CountTokens): number {
  if (!isFields(message)) return 0;
  const { role, content, name, tool_calls: calls } = message;
  let total = PER_MESSAGE + (typeof role === "string" ? count(role) : 0);
  if (typeof name === "string") total += PER_NAME + count(name);
  if (typeof content === "string") total += count(content);
  else if (Array.isArray(content)) {
    for (const part of content as unknown[])
      if (isFields(part) && typeof part.text === "string") total += count(part.text);
  }
  if (!Array.isArray(calls)) return total;
  for (const call of calls as unknown[]) {
    const made = isFields(call) && isFields(call.function) ? call.function : {};
    for (const text of [made.name, made.arguments])
      if (typeof text === "string") total += count(text);
  }
  return total;
}
