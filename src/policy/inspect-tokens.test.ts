import { expect, test } from "vitest";
import { loadTokenizer } from "./encodings.ts";
import { inspectTokens, tokenRows } from "./inspect-tokens.ts";
import type { Tokenizer } from "./tokenizer.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

test("a row is a place, an id, its bytes, and its text where they are whole characters", async () => {
  const rows = inspectTokens("é 👧", await loadTokenizer("cl100k_base"));
  expect(rows).toEqual([
    { position: 0, id: 978, bytes: bytes(0xc3, 0xa9), text: "é" },
    { position: 1, id: 62904, bytes: bytes(0x20, 0xf0, 0x9f, 0x91), text: null },
    { position: 2, id: 100, bytes: bytes(0xa7), text: null },
  ]);
});

test("a byte order mark is shown as the character it is", async () => {
  const [row] = inspectTokens("\ufeff", await loadTokenizer("o200k_base"));
  expect(row).toEqual({ position: 0, id: 5574, bytes: bytes(0xef, 0xbb, 0xbf), text: "\ufeff" });
});

test("no text, no rows", async () => {
  expect(inspectTokens("", await loadTokenizer("r50k_base"))).toEqual([]);
});

/** One token per character, its id the code point: the port is not made for one kind of tokenizer. */
const characters: Tokenizer = {
  name: "characters",
  encode: (text) => Array.from(text, (character) => character.codePointAt(0) ?? 0),
  decode: (ids) => String.fromCodePoint(...ids),
  bytesOf: (id) => new TextEncoder().encode(String.fromCodePoint(id)),
};

test("any tokenizer will do", () => {
  expect(inspectTokens("7😀", characters).map(({ id, text }) => [id, text])).toEqual([
    [55, "7"],
    [128512, "😀"],
  ]);
  expect(tokenRows([10], characters).next().value).toMatchObject({ position: 0, text: "\n" });
});
