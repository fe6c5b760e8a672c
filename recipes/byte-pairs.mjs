// A byte-pair tokenizer learned from texts, as the files that Hugging Face's libraries load.
import { HuggingFaceTokenizer } from "lockedroom/policy";

const SPECIAL = ["<pad>", "<begin>", "<end>"];
const [PAD, BEGIN, END] = SPECIAL;

/**
 * Joins the most frequent pair of neighbours inside the pieces of the texts until there are as many
 * tokens as wanted, or every piece is one token. `pattern` cuts a text into pieces.
 */
export function bytePairs(texts, { pattern, size }) {
  const pieces = countedPieces(texts, new RegExp(pattern, "gu"));
  const alphabet = [...new Set(pieces.flatMap(({ parts }) => parts))].sort();
  const tokens = [...SPECIAL, ...alphabet];
  const merges = [];
  while (tokens.length < size) {
    const pair = mostFrequent(pieces);
    if (!pair) break;
    merges.push(pair);
    const joined = pair.join("");
    if (!tokens.includes(joined)) tokens.push(joined);
    for (const piece of pieces) piece.parts = merged(piece.parts, pair);
  }
  return tokenizerOf(tokens, merges, pattern);
}

function countedPieces(texts, pattern) {
  const counts = new Map();
  for (const text of texts) {
    for (const [piece] of text.matchAll(pattern)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  return [...counts].map(([piece, count]) => ({ parts: [...piece], count }));
}

/** Of equally frequent pairs the first in the order of characters. */
function mostFrequent(pieces) {
  const counts = new Map();
  for (const { parts, count } of pieces) {
    for (let i = 1; i < parts.length; i++) {
      const key = JSON.stringify([parts[i - 1], parts[i]]);
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
  }
  let [best, most] = ["", 0];
  for (const [key, count] of counts) {
    if (count > most || (count === most && key < best)) [best, most] = [key, count];
  }
  return most > 0 ? JSON.parse(best) : undefined;
}

function merged(parts, [left, right]) {
  const joined = [];
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === left && parts[i + 1] === right) {
      joined.push(left + right);
      i++;
    } else joined.push(parts[i]);
  }
  return joined;
}

function tokenizerOf(tokens, merges, pattern) {
  const begin = { SpecialToken: { id: BEGIN, type_id: 0 } };
  const [first, second] = ["A", "B"].map((id) => ({ Sequence: { id, type_id: 0 } }));
  const content = {
    ...{ version: "1.0", truncation: null, padding: null },
    added_tokens: SPECIAL.map((text, id) => ({
      ...{ id, content: text, special: true, normalized: false },
      ...{ single_word: false, lstrip: false, rstrip: false },
    })),
    normalizer: null,
    pre_tokenizer: {
      ...{ type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false },
    },
    post_processor: {
      type: "TemplateProcessing",
      single: [begin, first],
      pair: [begin, first, second],
      special_tokens: { [BEGIN]: { id: BEGIN, ids: [SPECIAL.indexOf(BEGIN)], tokens: [BEGIN] } },
    },
    decoder: { type: "Fuse" },
    model: {
      ...{ type: "BPE", dropout: null, unk_token: null, fuse_unk: false },
      ...{ continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ byte_fallback: false, ignore_merges: false, merges },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
  const settings = {
    tokenizer_class: "PreTrainedTokenizerFast",
    ...{ pad_token: PAD, bos_token: BEGIN, eos_token: END },
    clean_up_tokenization_spaces: false,
  };
  const files = {
    "tokenizer.json": `${JSON.stringify(content)}\n`,
    "tokenizer_config.json": `${JSON.stringify(settings)}\n`,
  };
  return new HuggingFaceTokenizer({
    ...{ files, settings, path: "tokenizer.json", vocabulary: tokens.length },
    ...{ endTokens: [SPECIAL.indexOf(END)], bosToken: SPECIAL.indexOf(BEGIN) },
  });
}
