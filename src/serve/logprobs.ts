/**
 * Log-probs as the two endpoints write them. They are the policy's own: of the full softmax at
 * temperature 1, whatever temperature, top_p and top_k the tokens were sampled with. Every sampled token
 * has an entry, so that they sum to the completion's: also the end token and those of a stop text,
 * which are not part of the text.
 */

import type { TokenLogprob } from "../policy/sample-token.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";
import type { PlacedToken } from "./streaming-text.ts";

export function chatLogprobs(tokenizer: PolicyTokenizer, tokens: readonly PlacedToken[]) {
  const entry = ({ token: id, logprob }: TokenLogprob) => {
    const bytes = tokenizer.bytesOf(id);
    const token = bytes.length > 0 ? Buffer.from(bytes).toString() : specialName(tokenizer, id);
    return { token, logprob, bytes: bytes.length > 0 ? [...bytes] : null };
  };
  const content = tokens.map((token) => ({
    ...entry(token),
    top_logprobs: token.alternatives.map(entry),
  }));
  return { content, refusal: null };
}

/** `text_offset` counts characters from the beginning of the choice's text. */
export function completionLogprobs(tokenizer: PolicyTokenizer, tokens: readonly PlacedToken[]) {
  const nameOf = ({ token }: TokenLogprob) => tokenName(tokenizer, token);
  return {
    tokens: tokens.map(nameOf),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    // With the sampled token, whether or not it is among the likeliest.
    top_logprobs: tokens.map((token) =>
      Object.fromEntries([...token.alternatives, token].map((one) => [nameOf(one), one.logprob])),
    ),
    text_offset: tokens.map(({ offset }) => offset),
  };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Names are keys here, so bytes that are no whole characters are spelt, as OpenAI does. */
function tokenName(tokenizer: PolicyTokenizer, id: number): string {
  const bytes = tokenizer.bytesOf(id);
  if (bytes.length === 0) return specialName(tokenizer, id);
  try {
    return UTF8.decode(bytes);
  } catch {
    return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
  }
}

/** A token that stands for no text. */
function specialName(tokenizer: PolicyTokenizer, id: number): string {
  return tokenizer.contentOf(id) ?? `<token ${id}>`;
}
