/** Rows of training files as rows of this program, and what does not fit. */

import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { actionText, callsOf, contentOf } from "../formats/chat.ts";
import type { TuneKind } from "./kinds.ts";
import { outputsOf } from "./row-identity.ts";
import { areMessages } from "./sources/behind.ts";

/** What the reader of an imported file should know, by name. */
export const LOSSES = {
  old_names: "preferred_completion and non_preferred_completion were read as the outputs",
  parts_joined: "contents in parts are one text now",
  null_content: "the text of a single call stands where content was null or empty",
  calls_unlearned: "several calls in one message are kept, and train sft does not learn them",
  weights: "weight 0 is kept in the row, and train sft learns these turns, too",
  roles_joined: "messages of the input are one prompt; the row keeps them under original",
  messages_joined: "messages are one prompt; the row keeps them under messages",
  field_renamed: "the fields id and prompt of an item are kept as item_id and item_prompt",
} as const;

export type Loss = keyof typeof LOSSES;
type Lose = (loss: Loss) => void;
type Fields = Readonly<Record<string, unknown>>;

/** Throws a TypeError for a row that is none of its kind. */
export function importedRow(
  kind: TuneKind,
  fields: Fields,
  line: number,
  lose: Lose,
  answerField?: string,
): JsonObject {
  const id = `line-${line}`;
  if (kind === "sft") return textRow(id, fields, lose);
  return kind === "dpo" ? pairRow(id, fields, lose) : exampleRow(id, fields, lose, answerField);
}

function textRow(id: string, fields: Fields, lose: Lose): JsonObject {
  const { messages: given, ...others } = fields;
  const messages = messagesIn(given, "messages", lose);
  if (messages.some(({ role, weight }) => role === "assistant" && weight === 0)) lose("weights");
  const [asked, answer, ...more] = messages;
  const simple =
    more.length === 0 && isPlain(asked, "user") && isPlain(answer, "assistant") && isEmpty(others);
  if (simple) return { id, prompt: asked?.content ?? "", completion: answer?.content ?? "" };
  return { id, messages, ...(others as JsonObject) };
}

function pairRow(id: string, fields: Fields, lose: Lose): JsonObject {
  const { preferred, other } = outputsOf(fields);
  if (!("preferred_output" in fields) || !("non_preferred_output" in fields)) lose("old_names");
  const input = isFields(fields.input) ? fields.input : {};
  const asked = messagesIn(input.messages, "input.messages", lose);
  const better = messagesIn(preferred, "preferred_output", lose);
  const worse = messagesIn(other, "non_preferred_output", lose);
  const texts = { prompt: textOf(asked), chosen: textOf(better), rejected: textOf(worse) };
  const { messages: _messages, ...others } = input;
  const simple =
    asked.length === 1 &&
    isPlain(asked[0], "user") &&
    [better, worse].every((side) => side.length === 1 && isPlain(side[0], "assistant")) &&
    isEmpty(others);
  if (simple) return { id, ...texts };
  if (asked.length > 1) lose("roles_joined");
  const original = { input, preferred_output: preferred, non_preferred_output: other };
  return { id, ...texts, original: original as JsonObject };
}

function exampleRow(id: string, fields: Fields, lose: Lose, answerField?: string): JsonObject {
  const { messages: given, id: own, prompt: named, ...item } = fields;
  const messages = messagesIn(given, "messages", lose);
  const hasId = typeof own === "string" && own !== "";
  const renamed = {
    ...(own !== undefined && !hasId && { item_id: own }),
    ...(named !== undefined && { item_prompt: named }),
  };
  if (!isEmpty(renamed)) lose("field_renamed");
  const simple = messages.length === 1 && isPlain(messages[0], "user");
  if (messages.length > 1) lose("messages_joined");
  if (answerField !== undefined && item[answerField] === undefined)
    throw new TypeError(`the row has no field ${answerField}`);
  return {
    ...{ id: hasId ? own : id, prompt: textOf(messages) },
    ...(item as JsonObject),
    ...(renamed as JsonObject),
    ...(!simple && { messages }),
    ...(answerField !== undefined && { expected_answer: item[answerField] as JsonObject }),
  };
}

/** Messages whose contents are texts, which is what training reads. */
function messagesIn(given: unknown, where: string, lose: Lose): JsonObject[] {
  if (!areMessages(given)) throw new TypeError(`${where} is not a list of messages`);
  return given.map((message, i) => {
    const { content, tool_calls: calls } = message;
    const place = `${where}[${i}]`;
    if (typeof content === "string" && (content !== "" || !calls)) return message;
    if (Array.isArray(content)) lose("parts_joined");
    const made = callsOf(calls, place);
    const text = actionText(contentOf(content, place), made);
    if (made?.length === 1) lose("null_content");
    else if (made && made.length > 1) lose("calls_unlearned");
    return { ...message, content: text };
  });
}

function textOf(messages: readonly JsonObject[]): string {
  return messages.map(({ content }) => content).join("\n\n");
}

/** Whether a message says only its role and its content. */
function isPlain(message: JsonObject | undefined, role: string): boolean {
  return message?.role === role && Object.keys(message).length === 2;
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}
