/** Conversations in the terminal: roles, actions, calls of tools, and the reward of each turn. */

import { canonicalJson, type Json } from "../core/json.ts";
import { visible, visibleShort } from "../core/visible.ts";
import { type Conversation, numbered, type ShownMessage } from "../report/conversation.ts";
import { reasonOf } from "../report/reason.ts";
import { counted, figure, out, paint, print, WIDTH, wrap } from "./terminal.ts";

/** "reward 1, 3 turns, cut short" */
export function endText({ reward, turns, terminated }: Conversation): string {
  const cut = terminated ? "" : ", cut short";
  return `reward ${reward === null ? "none" : figure(reward)}, ${counted(turns, "turn")}${cut}`;
}

/** Every message, with its line breaks; other invisible characters are made visible. */
export function printConversation(one: Conversation, samples: number): void {
  const which = samples > 1 ? `  sample ${one.sample + 1} of ${samples}` : "";
  out(`${paint("bold", visible(one.id))}${which}  ${visible(one.code)}, ${endText(one)}`);
  for (const { message, turn } of numbered(one.messages)) {
    out();
    out(paint("cyan", headOf(message, turn)));
    for (const line of bodyOf(message)) out(wrap(line, "  "));
  }
  const figures = Object.entries(one.metrics).map(([name, value]) => `${name} ${figure(value)}`);
  out();
  if (figures.length > 0) print(visible(`metrics  ${figures.join(", ")}`));
  const reason = reasonOf(one, 400);
  if (reason !== "{}") print(`details  ${reason}`);
  for (const line of one.logs) print(`log      ${visible(line)}`);
}

function headOf(message: ShownMessage, turn: number | undefined): string {
  if (message.role !== "assistant") return message.role;
  const { reward } = message;
  return `assistant, turn ${turn}, reward ${reward === null ? "none" : figure(reward)}`;
}

function bodyOf(message: ShownMessage): string[] {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  if (calls.length > 0)
    return calls.map((call) =>
      visible(`calls ${call.name} ${canonicalJson(call.arguments as Json)}`),
    );
  if (message.content === "") return ["(empty)"];
  const text = message.content.replace(/\n$/, "");
  return text.split("\n").map((line) => visible(line));
}

/** A message in a line of a list. */
const LINE = WIDTH - 4;
/** Of a longer conversation the first and the last messages are shown. */
const AT_ENDS = 4;

/** A line for each message, and the middle of a long conversation left out. */
export function printShort(one: Conversation): void {
  const messages = numbered(one.messages);
  const middle = messages.length - 2 * AT_ENDS;
  for (const [i, { message, turn }] of messages.entries()) {
    if (middle > 1 && i === AT_ENDS) out(`    … ${middle} more messages; see all with --id`);
    if (middle > 1 && i >= AT_ENDS && i < messages.length - AT_ENDS) continue;
    out(`    ${lineOf(message, turn)}`);
  }
}

function lineOf(message: ShownMessage, turn: number | undefined): string {
  const reward =
    message.role === "assistant" && message.reward !== 0
      ? ` (reward ${message.reward === null ? "none" : figure(message.reward)})`
      : "";
  const label = `${message.role}${turn === undefined ? "" : ` ${turn}`}${reward}> `;
  const text = bodyOf(message).join(" ⏎ ");
  return label + visibleShort(text, LINE - label.length);
}
