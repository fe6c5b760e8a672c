/** What a client sends as the tokens that the policy reads. */

import type { ChatMessage } from "../policy/chat.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import { invalid, onBehalfOf } from "./errors.ts";

/** As it stands, behind the token that begins a text; a chat template has no part in it. */
export function tokensOfText({ tokenizer }: Checkpoint, text: string, param: string): number[] {
  const begin = tokenizer.beginToken === null ? [] : [tokenizer.beginToken];
  return [...begin, ...onBehalfOf(param, () => tokenizer.encode(text))];
}

/**
 * Through the policy's chat template. Without one there is only what `rollout` gives such a policy:
 * the system's text, then the user's.
 */
export function tokensOfMessages(checkpoint: Checkpoint, messages: readonly ChatMessage[]) {
  const { chat, tokenizer } = checkpoint;
  return onBehalfOf("messages", () => {
    if (chat) return tokenizer.encode(chat.render(messages, { addGenerationPrompt: true }));
    const roles = messages.map(({ role }) => role).join(" ");
    if (roles !== "user" && roles !== "system user") {
      throw invalid(
        "the policy has no chat template, and so takes one user message, with at most one system message before it",
        "messages",
      );
    }
    return tokensOfText(checkpoint, messages.map(({ content }) => content).join(""), "messages");
  });
}

/** A prompt must leave room for at least one token, and hold one to begin from. */
export function refuseUnreadable(
  { maxLength, tokenizer }: Checkpoint,
  tokens: readonly number[],
  param: string,
): void {
  if (tokens.length === 0) throw invalid("the prompt is empty", param);
  const foreign = tokens.find((token) => token >= tokenizer.size);
  if (foreign !== undefined) {
    throw invalid(`the policy has ${tokenizer.size} tokens, and no token ${foreign}`, param);
  }
  if (tokens.length < maxLength) return;
  throw invalid(
    `the prompt has ${tokens.length} tokens; the policy looks at ${maxLength} at most, of which one must be left for the answer`,
    param,
    "context_length_exceeded",
  );
}
