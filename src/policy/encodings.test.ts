import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LockedRoomError } from "../core/errors.ts";
import { ENCODINGS, loadTokenizer } from "./encodings.ts";

const names = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"] as const;
const [o200k, cl100k, p50k, r50k] = await Promise.all([
  loadTokenizer("o200k_base"),
  loadTokenizer("cl100k_base"),
  loadTokenizer("p50k_base"),
  loadTokenizer("r50k_base"),
]);
const tokenizers = [o200k, cl100k, p50k, r50k];

/** Ids from tiktoken 0.14.0 for Python, `encode_ordinary`, for o200k_base, cl100k_base, r50k_base. */
const KNOWN: readonly [text: string, o200k: number[], cl100k: number[], r50k: number[]][] = [
  ["", [], [], []],
  ["Final: 323", [15519, 25, 220, 29173], [19918, 25, 220, 15726], [19006, 25, 38446]],
  [
    "Final:  323",
    [15519, 25, 220, 220, 29173],
    [19918, 25, 220, 220, 15726],
    [19006, 25, 220, 38446],
  ],
  ["Final:\n323", [15519, 734, 29173], [19918, 512, 15726], [19006, 25, 198, 32637]],
  [
    "Final: 0323",
    [15519, 25, 220, 36733, 18],
    [19918, 25, 220, 21040, 18],
    [19006, 25, 7643, 1954],
  ],
  ["Final: -7", [15519, 25, 533, 22], [19918, 25, 482, 22], [19006, 25, 532, 22]],
  ["1234567890", [7633, 19354, 29338, 15], [4513, 10961, 16474, 15], [10163, 2231, 30924, 3829]],
  [
    "<|endoftext|>",
    [27, 91, 419, 1440, 919, 91, 29],
    [27, 91, 8862, 728, 428, 91, 29],
    [27, 91, 437, 1659, 5239, 91, 29],
  ],
  ["😀", [84083], [76460, 222], [47249, 222]],
  ["日本語", [9048, 40909], [9080, 22656, 45918, 252], [33768, 98, 17312, 105, 45739, 252]],
  ["e\u0301", [68, 13430], [68, 54939], [68, 136, 223]],
  ["0 \ufeff6", [15, 71280, 21], [15, 76880, 21], [15, 27332, 119, 123, 21]],
  ["   \u0085", [271, 126, 227], [262, 126, 227], [220, 220, 1587, 227]],
  ["\ufeff{", [5574, 90], [3305, 90], [171, 119, 123, 90]],
  [
    "Final:\u0085323",
    [15519, 25, 126, 227, 29173],
    [19918, 25, 126, 227, 15726],
    [19006, 25, 126, 227, 32637],
  ],
  ["*\n/a", [6658, 14, 64], [5736, 14520], [9, 198, 14, 64]],
  ["\r\n  x", [370, 220, 1215], [319, 220, 865], [201, 198, 220, 2124]],
  [
    "don't I'LL they'ſe",
    [91418, 3413, 7454, 1023, 6, 70067, 68],
    [15357, 956, 358, 6, 4178, 814, 6, 129, 123, 68],
    [9099, 470, 314, 6, 3069, 484, 6, 129, 123, 68],
  ],
  ["\ud800x", [3251, 87], [5809, 87], [4210, 87]],
];

describe("the ids are those of tiktoken", () => {
  test.each(KNOWN)("%j", (text, ...ids) => {
    expect([o200k, cl100k, r50k].map((tokenizer) => tokenizer.encode(text))).toEqual(ids);
  });

  test("for names that share a vocabulary", async () => {
    for (const [name, same] of [
      ["o200k_harmony", o200k],
      ["p50k_edit", p50k],
      ["gpt2", r50k],
    ] as const) {
      const tokenizer = await loadTokenizer(name);
      expect(tokenizer.name).toBe(name);
      expect(tokenizer.encode("Final: 323<|end|>")).toEqual(same.encode("Final: 323<|end|>"));
    }
  });

  test("for one word of a million letters, in less than an age", () => {
    expect(o200k.encode("a".repeat(1_000_000))).toEqual(Array(125_000).fill(117525));
    expect(cl100k.encode("a".repeat(1_000_000))).toEqual(Array(125_000).fill(70540));
    const spaces = o200k.encode(`${" ".repeat(300_000)}x`);
    expect([spaces.length, ...spaces.slice(-3)]).toEqual([2345, 72056, 195732, 1215]);
  });
});

test("the vocabularies are the files that OpenAI publishes", () => {
  // The hashes that tiktoken checks its downloads against.
  const published = {
    o200k_base: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    cl100k_base: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    p50k_base: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    r50k_base: "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
  };
  const { resolve } = createRequire(import.meta.url);
  for (const name of names) {
    const bytes = readFileSync(resolve(`gpt-tokenizer/data/${name}.tiktoken`));
    expect(createHash("sha256").update(bytes).digest("hex"), name).toBe(published[name]);
  }
});

describe.each(tokenizers)("$name", (tokenizer) => {
  const bytesOf = (ids: number[]) => Buffer.concat(ids.map((id) => tokenizer.bytesOf(id)));
  const spaces = fc.constantFrom(..." \t\n\r\v\f\u0085\u00a0\u2028\u3000\ufeff\u200b", "'s", "'ſ");
  /** Any code units, so that lone surrogates come up. */
  const units = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
    .map((codes) => String.fromCharCode(...codes));
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc
      .array(fc.oneof(spaces, fc.string({ unit: "grapheme" })), { maxLength: 30 })
      .map((all) => all.join("")),
    units,
  );

  test("tokens are the text's UTF-8 bytes, cut up; a lone surrogate counts as U+FFFD", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const ids = tokenizer.encode(text);
        const utf8 = new TextEncoder().encode(text);
        expect(bytesOf(ids)).toEqual(Buffer.from(utf8));
        expect(tokenizer.decode(ids)).toBe(Buffer.from(utf8).toString());
        expect(tokenizer.encode(text)).toEqual(ids);
      }),
      { numRuns: 500 },
    );
  });

  test("what looks like a special token is text", () => {
    for (const text of ["<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "a<|endofprompt|>b"]) {
      const ids = tokenizer.encode(text);
      expect(ids.length).toBeGreaterThan(3);
      expect(tokenizer.decode(ids)).toBe(text);
    }
  });
});

describe("an unknown encoding", () => {
  test.each([
    ["cl100k", "cl100k_base"],
    ["O200K_BASE", "o200k_base"],
    ["gpt-4", "cl100k_base"],
    ["gpt-4o-mini", "o200k_base"],
    ["gpt-5.1", "o200k_base"],
    ["gpt-3.5-turbo", "cl100k_base"],
    ["gpt-2", "gpt2"],
    ["", "o200k_base"],
    ["constructor", "o200k_base"],
    ["__proto__", "o200k_base"],
  ])("%j: did you mean %s?", async (name, suggestion) => {
    const error = await loadTokenizer(name).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LockedRoomError);
    const { kind, message, hint } = error as LockedRoomError;
    expect(kind).toBe("usage");
    expect(message).toBe(`there is no encoding "${name}"`);
    expect(hint).toContain(`Did you mean ${suggestion}?`);
    for (const known of Object.keys(ENCODINGS)) expect(hint).toContain(known);
  });

  test("is shown without what a terminal would obey", async () => {
    await expect(loadTokenizer("\x1b[31m".repeat(100))).rejects.toThrow(/^[^\x1b]{1,80}$/);
  });
});
