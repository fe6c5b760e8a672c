/** An example's prompt as tokens, the way the policy was trained to read it. */

import type { Checkpoint } from "./checkpoint.ts";

export function promptTokens(
  { chat, tokenizer }: Pick<Checkpoint, "chat" | "tokenizer">,
  text: string,
  system?: string,
): number[] {
  const begin = tokenizer.beginToken === null ? [] : [tokenizer.beginToken];
  if (!chat) return [...begin, ...tokenizer.encode((system ?? "") + text)];
  const messages = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    { role: "user", content: text },
  ];
  return tokenizer.encode(chat.render(messages, { addGenerationPrompt: true }));
}
