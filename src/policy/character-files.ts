/**
 * A character vocabulary as the files that Hugging Face's libraries load: byte-pair encoding without
 * merges, so that each character is one token. The unknown token is not in the vocabulary, which makes
 * an unknown character an error there too.
 */

import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { TOKENIZER_FILE, TOKENIZER_SETTINGS } from "./tokenizer.ts";

/** In the order of their ids; the characters come after them. */
export const SPECIAL_TOKENS: readonly string[] = ["<pad>", "<begin>", "<end>"];
const [PAD, BEGIN, END] = SPECIAL_TOKENS as [string, string, string];

export function characterFiles(alphabet: readonly string[]): Record<string, string> {
  return {
    [TOKENIZER_FILE]: `${canonicalJson(tokenizerJson(alphabet))}\n`,
    [TOKENIZER_SETTINGS]: `${canonicalJson(SETTINGS)}\n`,
  };
}

/** The alphabet of a tokenizer.json that this file describes; undefined for any other content. */
export function alphabetOf(content: Json): string[] | undefined {
  const { vocab = null } = ((content as JsonObject | null)?.model ?? {}) as JsonObject;
  if (typeof vocab !== "object" || vocab === null) return undefined;
  const tokens = Object.entries(vocab).filter(([token]) => !SPECIAL_TOKENS.includes(token));
  if (tokens.some(([token]) => [...token].length !== 1)) return undefined;
  const alphabet = tokens.sort(([, a], [, b]) => Number(a) - Number(b)).map(([token]) => token);
  const same = canonicalJson(tokenizerJson(alphabet)) === canonicalJson(content);
  return same ? alphabet : undefined;
}

/** With every field that the library writes, so that it saves the same content. */
function tokenizerJson(alphabet: readonly string[]): JsonObject {
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content, id) => ({
      ...{ id, content, special: true, normalized: false },
      ...{ single_word: false, lstrip: false, rstrip: false },
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: BEGIN_FIRST,
    decoder: { type: "Fuse" },
    model: {
      ...{ type: "BPE", dropout: null, unk_token: "<unk>", fuse_unk: false },
      ...{ continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ byte_fallback: false, ignore_merges: false, merges: [] },
      vocab: Object.fromEntries([...SPECIAL_TOKENS, ...alphabet].map((token, id) => [token, id])),
    },
  };
}

const begin = { SpecialToken: { id: BEGIN, type_id: 0 } };
const [first, second] = ["A", "B"].map((id) => ({ Sequence: { id, type_id: 0 } }));
/** A prompt begins with the begin token. */
const BEGIN_FIRST = {
  type: "TemplateProcessing",
  single: [begin, first],
  pair: [begin, first, second],
  special_tokens: {
    [BEGIN]: { id: BEGIN, ids: [SPECIAL_TOKENS.indexOf(BEGIN)], tokens: [BEGIN] },
  },
} as JsonObject;

const SETTINGS = {
  // Any other class would rebuild the tokenizer.
  tokenizer_class: "PreTrainedTokenizerFast",
  ...{ pad_token: PAD, bos_token: BEGIN, eos_token: END },
  clean_up_tokenization_spaces: false,
  // In a text "<end>" is five characters, not the end token.
  split_special_tokens: true,
};
