/** An attempt as the judge reads it. */

export interface ReadMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

export interface Attempt {
  readonly id: string;
  /** The whole conversation, with the beginning that all attempts share. */
  readonly messages: readonly ReadMessage[];
  /** Without that beginning. */
  readonly own: readonly ReadMessage[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
}

/** What the policy was asked, without white space around it. */
export function promptOf({ messages }: Attempt): string {
  return messages.find(({ role }) => role === "user")?.content.trim() ?? "";
}

/** What the policy wrote in each turn; a turn with calls is written as JSON. */
export function saidIn(messages: readonly ReadMessage[]): string[] {
  return messages
    .filter(({ role }) => role === "assistant")
    .map(({ content, tool_calls: calls }) =>
      calls.length > 0 ? JSON.stringify(calls) : content.trim(),
    );
}

/** What the policy wrote last; "" when it wrote nothing. */
export function replyOf({ messages }: Attempt): string {
  return saidIn(messages).at(-1) ?? "";
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

export function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== "");
}
