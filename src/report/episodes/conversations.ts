/** Conversations by outcome code, each behind a line to open: messages, calls, and rewards by turn. */

import { canonicalJson, type Json } from "../../core/json.ts";
import { visible } from "../../core/visible.ts";
import { type Conversation, numbered, type ShownMessage } from "../conversation.ts";
import { groupHeading, heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { grouped, many, plain } from "../page/numbers.ts";
import { RowGroups } from "../page/row-groups.ts";
import { LEGEND, rowList } from "../page/row-list.ts";
import { reasonOf } from "../reason.ts";

/** Of each outcome code. */
const EPISODES_SHOWN = 8;
const CODES_SHOWN = 30;
/** Of a longer conversation the first and the last messages are shown. */
const FIRST_MESSAGES = 40;
const LAST_MESSAGES = 20;
const REASON_WIDTH = 300;

/** Collects the first episodes of each code, solved or not. */
export class ConversationGroups {
  readonly #groups = new RowGroups(EPISODES_SHOWN);
  readonly #solved = new Set<string>();
  readonly #level: number;

  /** `level` is that of the codes' headings. */
  constructor(level: number) {
    this.#level = level;
  }

  add(one: Conversation): void {
    if (one.passed) this.#solved.add(one.code);
    this.#groups.add(one.code, () => episodeArticle(one, this.#level + 1));
  }

  get html(): Html {
    const { all, others } = this.#groups;
    if (all.length === 0) return html`<p>No episodes.</p>\n`;
    const groups = all.slice(0, CODES_SHOWN).map((group) => {
      const solved = this.#solved.has(group.name) && html` <span class="chip good">solved</span>`;
      const title = html`${codeHtml(group.name)}${solved}`;
      return html`${groupHeading(this.#level, title, many(group.count, "episode"))}${rowList(group)}`;
    });
    const hidden = all.slice(CODES_SHOWN).reduce((sum, { count }) => sum + count, others);
    const rest =
      hidden > 0 &&
      html`<p class="muted">${many(hidden, "episode")} with less common codes are not shown.</p>\n`;
    return html`${LEGEND}${groups}${rest}`;
  }
}

function episodeArticle(one: Conversation, level: number): Html {
  const { id, sample, messages, details } = one;
  const hasReason = Object.keys(Object(details ?? {})).length > 0;
  return html`<article class="sample">
${heading(level, html`${codeHtml(id)} sample ${sample + 1}`)}<p class="reason">${endOf(one)}</p>
${hasReason && html`<p class="reason">${reasonOf(one, REASON_WIDTH)}</p>\n`}<details class="conversation"><summary>${many(messages.length, "message")}</summary>
${messageList(messages)}</details>
</article>
`;
}

/** "reward 1 (turn 3: 1), 3 turns, largest_tile 128" */
function endOf({ reward, turns, terminated, metrics, messages, logs }: Conversation): string {
  const figures = Object.entries(metrics).map(
    ([name, value]) => `${visible(name)} ${plain(value)}`,
  );
  return [
    `reward ${reward === null ? "none" : plain(reward)}${byTurn(messages)}`,
    many(turns, "turn"),
    ...(terminated ? [] : ["cut short"]),
    ...figures,
    ...(logs.length > 0 ? [many(logs.length, "log line")] : []),
  ].join(", ");
}

const TURNS_NAMED = 6;

/** The turns that earned or cost something, where there are several turns. */
function byTurn(messages: readonly ShownMessage[]): string {
  const turns = numbered(messages).flatMap(({ message, turn }) =>
    message.role === "assistant" ? [{ turn, reward: message.reward }] : [],
  );
  const some = turns.filter(({ reward }) => reward !== 0);
  if (turns.length < 2 || some.length === 0) return "";
  const named = some
    .slice(0, TURNS_NAMED)
    .map(({ turn, reward }) => `turn ${turn}: ${reward === null ? "none" : plain(reward)}`);
  return ` (${named.join(", ")}${some.length > TURNS_NAMED ? ", …" : ""})`;
}

function messageList(messages: readonly ShownMessage[]): Html {
  const all = numbered(messages);
  const left = all.length - FIRST_MESSAGES - LAST_MESSAGES;
  const shown = (some: typeof all) => some.map(({ message, turn }) => messageHtml(message, turn));
  if (left <= 0) return html`<ol class="messages">${shown(all)}</ol>`;
  return html`<ol class="messages">${shown(all.slice(0, FIRST_MESSAGES))}</ol>
<p class="muted">${grouped(left)} messages are left out.</p>
<ol class="messages">${shown(all.slice(-LAST_MESSAGES))}</ol>`;
}

function messageHtml(message: ShownMessage, turn: number | undefined): Html {
  if (message.role !== "assistant")
    return html`<li class="${message.role}"><p>${message.role}</p><pre>${textHtml(message.content)}</pre></li>\n`;
  const calls = message.tool_calls ?? [];
  const reward = message.reward === null ? "none" : plain(message.reward);
  const body =
    calls.length === 0
      ? textHtml(message.content)
      : calls.map(
          (call) => html`${visible(`${call.name} ${canonicalJson(call.arguments as Json)}`)}\n`,
        );
  return html`<li class="assistant"><p>assistant · turn ${turn ?? ""} · reward ${reward}${calls.length > 0 && " · tool call"}</p><pre>${body}</pre></li>\n`;
}

export const CONVERSATION_STYLE = `
.messages { margin: 0.5rem 0 0; padding: 0; list-style: none; }
.messages > li { max-width: 60rem; margin: 0 0 0.6rem; }
.messages > li.assistant { margin-left: 1.5rem; padding-left: 0.75rem; border-left: 3px solid var(--accent); }
.messages p { margin: 0 0 0.15rem; color: var(--muted); font-size: 0.8125rem; }
@media (max-width: 46rem) { .messages > li.assistant { margin-left: 0.5rem; } }
`;
