/** The files of a character vocabulary, read by us and by Hugging Face's library. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { alphabetOf, characterFiles, SPECIAL_TOKENS } from "./character-files.ts";
import { CharacterTokenizer } from "./characters.ts";
import { HuggingFaceTokenizer } from "./hf-tokenizer.ts";

const ALPHABET = [..."\n \t0123456789+=<>Final:é😀ß▁Ġ"];
const files = characterFiles(ALPHABET);
const tokenizer = new CharacterTokenizer(ALPHABET.join(""));
const content = JSON.parse(files["tokenizer.json"] ?? "");
const library = new HuggingFaceTokenizer({
  ...{ files, path: "t.json", vocabulary: tokenizer.size, endTokens: [2], bosToken: 1 },
  settings: JSON.parse(files["tokenizer_config.json"] ?? ""),
});

test("Hugging Face's library gives the same ids and texts for any text over the alphabet", () => {
  const text = fc.array(fc.constantFrom(...ALPHABET)).map((list) => list.join(""));
  fc.assert(
    fc.property(text, (given) => {
      // These libraries find special tokens in a text, where we see characters.
      fc.pre(!SPECIAL_TOKENS.some((token) => given.includes(token)));
      const ids = tokenizer.encode(given);
      expect(library.encode(given)).toEqual(ids);
      expect(library.decode([1, ...ids, 2, 0])).toBe(given);
      expect(ids.map((id) => library.contentOf(id))).toEqual(
        ids.map((id) => tokenizer.contentOf(id)),
      );
    }),
    { numRuns: 500 },
  );
  for (const unknown of ["x", "1x", "\u0301"]) {
    expect(() => library.encode(unknown)).toThrow("no token for");
    expect(() => tokenizer.encode(unknown)).toThrow("does not know");
  }
});

test("it agrees on the special tokens", () => {
  const { size, tokens, beginToken, bosToken, endTokens } = tokenizer;
  expect(library).toMatchObject({ size, tokens, beginToken, bosToken, endTokens });
  for (const id of [0, 1, 2]) {
    expect(library.contentOf(id)).toBe(SPECIAL_TOKENS[id]);
    expect(library.bytesOf(id)).toHaveLength(0);
  }
});

test("the settings let AutoTokenizer load the file as it is", () => {
  expect(JSON.parse(files["tokenizer_config.json"] ?? "")).toEqual({
    tokenizer_class: "PreTrainedTokenizerFast",
    ...{ pad_token: "<pad>", bos_token: "<begin>", eos_token: "<end>" },
    ...{ clean_up_tokenization_spaces: false, split_special_tokens: true },
  });
});

test("the alphabet is read back from the content, whatever its layout", () => {
  expect(alphabetOf(content)).toEqual(ALPHABET);
  expect(alphabetOf(JSON.parse(JSON.stringify(content, null, 2)))).toEqual(ALPHABET);
  expect(alphabetOf(JSON.parse(characterFiles([])["tokenizer.json"] ?? ""))).toEqual([]);
});

test.each<[string, (model: Record<string, unknown>) => object]>([
  ["merges", (model) => ({ model: { ...model, merges: [["0", "1"]] } })],
  [
    "a token of two characters",
    ({ vocab, ...model }) => ({
      model: { ...model, vocab: { ...(vocab as object), "01": 99 } },
    }),
  ],
  [
    "a gap in the ids",
    ({ vocab, ...model }) => ({
      model: { ...model, vocab: { ...(vocab as object), x: 2 ** 31 } },
    }),
  ],
  [
    "an id twice",
    ({ vocab, ...model }) => ({
      model: { ...model, vocab: { ...(vocab as object), x: 4 } },
    }),
  ],
  ["no vocabulary", () => ({ model: { type: "BPE" } })],
  ["a list of pieces", () => ({ model: { type: "Unigram", vocab: [["a", 0]] } })],
  ["another model", (model) => ({ model: { ...model, type: "WordPiece" } })],
  ["a normalizer", () => ({ normalizer: { type: "Lowercase" } })],
  ["a pre-tokenizer", () => ({ pre_tokenizer: { type: "Whitespace" } })],
  ["another special token", () => ({ added_tokens: [] })],
])("content with %s is left to Hugging Face's library", (_, change) => {
  expect(alphabetOf({ ...content, ...change(content.model) })).toBeUndefined();
});

test.each([null, [], "text", {}, { model: null }])("%j is no character vocabulary", (other) => {
  expect(alphabetOf(other)).toBeUndefined();
});
