/**
 * Log-probs as the two endpoints write them. They are the policy's own: of the full softmax at
 * temperature 1, whatever temperature, top_p and top_k the tokens were drawn with. Every token that was
 * sampled has its entry, so that they sum to the completion's: also the token that ended it and
 * those of a stop text, which are no part of the text.
 */

import { SPECIAL_TOKENS } from "../policy/characters.ts";
import { HuggingFaceTokenizer } from "../policy/hf-tokenizer.ts";
import type { TokenLogprob } from "../policy/sample-token.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";
import type { Placed } from "./unfolding.ts";

export function chatLogprobs(tokenizer: PolicyTokenizer, tokens: readonly Placed[]) {
  const entry = ({ token: id, logprob }: TokenLogprob) => {
    const bytes = tokenizer.bytesOf(id);
    const token = bytes.length > 0 ? Buffer.from(bytes).toString() : steeringName(tokenizer, id);
    return { token, logprob, bytes: bytes.length > 0 ? [...bytes] : null };
  };
  const content = tokens.map((drawn) => ({
    ...entry(drawn),
    top_logprobs: drawn.alternatives.map(entry),
  }));
  return { content, refusal: null };
}

/** `text_offset` counts characters from the beginning of the choice's text. */
export function completionLogprobs(tokenizer: PolicyTokenizer, tokens: readonly Placed[]) {
  const nameOf = ({ token }: TokenLogprob) => tokenName(tokenizer, token);
  return {
    tokens: tokens.map(nameOf),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    // With the token that was drawn, whether or not it is among the likeliest.
    top_logprobs: tokens.map((drawn) =>
      Object.fromEntries([...drawn.alternatives, drawn].map((one) => [nameOf(one), one.logprob])),
    ),
    text_offset: tokens.map(({ offset }) => offset),
  };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Names are keys here, so bytes that are no whole characters are spelt, as OpenAI does. */
function tokenName(tokenizer: PolicyTokenizer, id: number): string {
  const bytes = tokenizer.bytesOf(id);
  if (bytes.length === 0) return steeringName(tokenizer, id);
  try {
    return UTF8.decode(bytes);
  } catch {
    return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
  }
}

/** A token that stands for no text. */
function steeringName(tokenizer: PolicyTokenizer, id: number): string {
  const name =
    tokenizer instanceof HuggingFaceTokenizer ? tokenizer.contentOf(id) : SPECIAL_TOKENS[id];
  return name ?? `<token ${id}>`;
}
