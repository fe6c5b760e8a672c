/**
 * Conversations as tokens, turn by turn. What the policy wrote stays the tokens that were sampled: the
 * template is asked only for what stands between two of its turns.
 */

import type { Message } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import { type ChatTemplate, plainTokens } from "./chat.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

export interface Conversation {
  /** The first messages, up to where the policy writes. */
  begin(messages: readonly Message[]): readonly number[];
  /**
   * What follows the policy's last turn: its end where the policy did not write one, the new
   * messages, and the beginning of the next turn. `before` are the messages that were read earlier.
   */
  next(
    before: readonly Message[],
    sampled: readonly number[],
    messages: readonly Message[],
  ): readonly number[];
}

type Texts = Pick<PolicyTokenizer, "beginToken" | "encode" | "endTokens">;

/** Without a template the contents are joined: separators are the environment's own. */
export function conversation(chat: ChatTemplate | null, tokenizer: Texts): Conversation {
  if (!chat) {
    return {
      begin: (messages) => plainTokens(tokenizer, textOf(messages)),
      next: (_before, _sampled, messages) => tokenizer.encode(textOf(messages)),
    };
  }
  return {
    begin: (messages) => tokenizer.encode(chat.render(messages, { addGenerationPrompt: true })),
    next: (before, sampled, messages) => {
      const tokens = tokenizer.encode(afterTurn(chat, before, messages));
      const [first] = tokens;
      // The policy ended its turn itself, with the token that the template ends it with.
      const written = sampled.at(-1) === first && tokenizer.endTokens.includes(first as number);
      return written ? tokens.slice(1) : tokens;
    },
  };
}

/** What the template writes after a turn of the policy, from the end of its text. */
function afterTurn(
  chat: ChatTemplate,
  before: readonly Message[],
  messages: readonly Message[],
): string {
  const turn = standIn([...before, ...messages]);
  const all = [...before, { role: "assistant", content: turn }, ...messages];
  const parts = chat.render(all, { addGenerationPrompt: true }).split(turn);
  if (parts.length === 2) return parts[1] as string;
  throw dataError(
    "the chat template does not write a turn of the policy as it is, once and in its place",
    "Use an environment of one turn, or a checkpoint whose template keeps the conversation.",
  );
}

/** A text for the policy's turn that occurs in no message; what stands after it is what is wanted. */
function standIn(messages: readonly Message[]): string {
  for (let n = 0; ; n++) {
    const text = `what-the-policy-wrote-${n}`;
    if (!messages.some(({ content }) => content.includes(text))) return text;
  }
}

function textOf(messages: readonly Message[]): string {
  return messages.map(({ content }) => content).join("");
}
