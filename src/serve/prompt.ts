/** A client's prompt as tokens. */

import { LockedRoomError } from "../core/errors.ts";
import { badRequest } from "../http/errors.ts";
import { type ChatMessage, plainTokens } from "../policy/chat.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";

/** Without a chat template. */
export function tokensOfText({ tokenizer }: Checkpoint, text: string, param: string): number[] {
  return asBadRequest(param, () => plainTokens(tokenizer, text));
}

/**
 * Through the policy's chat template. Without one the prompt is the same as in `rollout`: the text of
 * the system message, then that of the user message.
 */
export function tokensOfMessages(checkpoint: Checkpoint, messages: readonly ChatMessage[]) {
  const { chat, tokenizer } = checkpoint;
  return asBadRequest("messages", () => {
    if (chat) return tokenizer.encode(chat.render(messages, { addGenerationPrompt: true }));
    const roles = messages.map(({ role }) => role).join(" ");
    if (roles !== "user" && roles !== "system user") {
      throw badRequest(
        "the policy has no chat template, and so takes one user message, with at most one system message before it",
        "messages",
      );
    }
    return tokensOfText(checkpoint, messages.map(({ content }) => content).join(""), "messages");
  });
}

/** A prompt has at least one token, and leaves room for at least one more. */
export function requireReadable(
  { maxLength, tokenizer }: Checkpoint,
  tokens: readonly number[],
  param: string,
): void {
  if (tokens.length === 0) throw badRequest("the prompt is empty", param);
  const foreign = tokens.find((token) => token >= tokenizer.size);
  if (foreign !== undefined) {
    throw badRequest(`the policy has ${tokenizer.size} tokens, and no token ${foreign}`, param);
  }
  if (tokens.length < maxLength) return;
  throw badRequest(
    `the prompt has ${tokens.length} tokens; the policy's context length is ${maxLength}, of which one must be left for the answer`,
    param,
    "context_length_exceeded",
  );
}

/** Runs work on a client's text; input that the policy cannot read is a bad request. */
function asBadRequest<T>(param: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    throw badRequest([error.message, error.hint].filter(Boolean).join(". "), param);
  }
}
