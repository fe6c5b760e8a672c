import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HuggingFaceTokenizer } from "./hf-tokenizer.ts";

const FIXTURES = path.join(import.meta.dirname, "../../tests/fixtures/hf-tiny");
const file = readFileSync(path.join(FIXTURES, "llama/tokenizer.json"), "utf8");
const cases: { text: string; ids: number[] }[] = JSON.parse(
  readFileSync(path.join(FIXTURES, "tokenizer-cases.json"), "utf8"),
);
const filesOf = (text: string) => ({ "tokenizer.json": text });
const options = { files: filesOf(file), path: "t.json", vocabulary: 320, endTokens: [0] };
const tokenizer = new HuggingFaceTokenizer(options);

test.each(cases)("$text, id by id, both ways", ({ text, ids }) => {
  expect(tokenizer.encode(text)).toEqual(ids);
  expect(tokenizer.decode(ids)).toBe(text);
});

test("every text comes back, and its bytes are the tokens' bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const ids = tokenizer.encode(text);
      expect(tokenizer.decode(ids)).toBe(text);
      const bytes = ids.map((id) => tokenizer.bytesOf(id));
      expect(Buffer.concat(bytes).toString("utf8")).toBe(text);
    }),
  );
  expect(tokenizer.decode(tokenizer.encode("\ufeffa"))).toBe("\ufeffa");
});

test("half of a character decodes to U+FFFD, and its token has its one byte", () => {
  const [first = -1] = tokenizer.encode("é");
  expect(tokenizer.bytesOf(first)).toEqual(Uint8Array.of(0xc3));
  expect(tokenizer.decode([first])).toBe("\ufffd");
});

test("special tokens are found in a text, and are no text", () => {
  const ids = tokenizer.encode("<|im_start|>1<|im_end|>");
  expect(ids).toEqual([1, 19, 2]);
  expect(tokenizer.decode(ids)).toBe("1");
  expect(tokenizer.bytesOf(1)).toHaveLength(0);
  expect(tokenizer.contentOf(1)).toBe("<|im_start|>");
});

test("an embedding may have more rows than there are tokens, never fewer", () => {
  const padded = new HuggingFaceTokenizer({ ...options, vocabulary: 384 });
  expect(padded).toMatchObject({ size: 384, tokens: 320 });
  expect(padded.decode([19, 383])).toBe("1");
  expect(padded.bytesOf(383)).toHaveLength(0);
  expect(() => padded.bytesOf(384)).toThrow("there is no token 384");
  expect(() => new HuggingFaceTokenizer({ ...options, vocabulary: 319 })).toThrow(
    "t.json has 320 tokens, but the vocabulary of the model has 319",
  );
});

test("what the tokenizer puts first is the first token of a prompt", () => {
  expect(tokenizer.beginToken).toBe(null);
  const id = "<|endoftext|>";
  const post_processor = {
    type: "TemplateProcessing",
    single: [{ SpecialToken: { id, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
    pair: [],
    special_tokens: { [id]: { id, ids: [0], tokens: [id] } },
  };
  const content = JSON.stringify({ ...JSON.parse(file), post_processor });
  const beginning = new HuggingFaceTokenizer({ ...options, files: filesOf(content) });
  expect(beginning.beginToken).toBe(0);
  expect(beginning.encode("1")).toEqual([19]);
});

describe("pieces with ▁ and bytes, as Llama 2 has them", () => {
  const vocab = { "<unk>": 0, "<0xC3>": 1, "<0xA9>": 2, "▁a": 3, b: 4, "▁": 5, a: 6 };
  const content = {
    added_tokens: [{ id: 0, content: "<unk>", special: true }],
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "Prepend", prepend: "▁" },
        { type: "Replace", pattern: { String: " " }, content: "▁" },
      ],
    },
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: "▁" }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
    model: { type: "BPE", unk_token: "<unk>", byte_fallback: true, vocab, merges: ["▁ a"] },
  };
  const pieces = new HuggingFaceTokenizer({
    ...options,
    files: filesOf(JSON.stringify(content)),
    vocabulary: 7,
  });

  test("text and bytes", () => {
    const ids = pieces.encode("ab aé");
    expect(ids).toEqual([3, 4, 3, 1, 2]);
    expect(pieces.decode(ids)).toBe("ab aé");
    expect(pieces.bytesOf(3)).toEqual(Buffer.from(" a"));
    expect(pieces.bytesOf(1)).toEqual(Uint8Array.of(0xc3));
  });
});

test.each(["", "[]", "{}", '{"model": {"type": "Nonsense"}}'])("refused: %s", (text) => {
  expect(() => new HuggingFaceTokenizer({ ...options, files: filesOf(text) })).toThrow(
    "t.json is no sound tokenizer",
  );
});
