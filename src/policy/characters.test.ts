import fc from "fast-check";
import { expect, test } from "vitest";
import { CharacterTokenizer } from "./characters.ts";
import { inspectTokens } from "./inspect-tokens.ts";

const tokenizer = new CharacterTokenizer("\n 0123456789é😀");

test("special tokens come first, then the characters as given", () => {
  expect(tokenizer).toMatchObject({ size: 17, beginToken: 1, endTokens: [2], padToken: 0 });
  expect(tokenizer.encode("0\n😀")).toEqual([5, 3, 16]);
  expect(tokenizer.encode("")).toEqual([]);
  expect(tokenizer.decode([1, 5, 3, 16, 2, 0])).toBe("0\n😀");
});

test("every text over the alphabet comes back, and its bytes are the tokens' bytes", () => {
  const text = fc.array(fc.constantFrom(..."\n 0123456789é😀")).map((list) => list.join(""));
  fc.assert(
    fc.property(text, (given) => {
      const ids = tokenizer.encode(given);
      expect(tokenizer.decode(ids)).toBe(given);
      const bytes = ids.map((id) => tokenizer.bytesOf(id));
      expect(Buffer.concat(bytes).toString("utf8")).toBe(given);
    }),
  );
});

test("an unknown character is named, with its place", () => {
  expect(() => tokenizer.encode("1😀\u00a0")).toThrow(
    'the policy does not know the character "⟨U+00A0⟩" (U+00A0) (character 3 of the text)',
  );
  expect(() => tokenizer.encode("a")).toThrow('"a" (U+0061) (character 1 of the text)');
  expect(() => tokenizer.encode("\ud83d")).toThrow("U+D83D");
});

test("unknown ids throw; special tokens have no bytes", () => {
  for (const id of [-1, 17, 1.5, Number.NaN]) {
    expect(() => tokenizer.bytesOf(id)).toThrow("there is no token");
    expect(() => tokenizer.decode([id])).toThrow("there is no token");
  }
  expect(inspectTokens("7", tokenizer)).toMatchObject([{ id: 12, text: "7" }]);
  for (const id of [0, 1, 2]) expect(tokenizer.bytesOf(id)).toHaveLength(0);
});

test("an alphabet with a repeated or a halved character is refused", () => {
  expect(() => new CharacterTokenizer("0120")).toThrow('"0" (U+0030) more than once');
  expect(() => new CharacterTokenizer("a\ude00")).toThrow("U+DE00, half of a character");
});

test("a special token has a name and is never found in a text", () => {
  expect([0, 1, 2, 5, null].map((id) => tokenizer.contentOf(id))).toEqual([
    ...["<pad>", "<begin>", "<end>", "0", null],
  ]);
  const wide = new CharacterTokenizer("<end>");
  expect(wide.encode("<end>")).toEqual([3, 4, 5, 6, 7]);
});

test("the fingerprint is of the alphabet", () => {
  // Recorded before tokenizer.json had today's layout: the same policies keep their fingerprints.
  expect(new CharacterTokenizer("\n *+,-.0123456789:<=>CFRTaehilmnoprstuwy").fingerprint).toBe(
    "2cfe97f03a256e87b38c038be76b966b8e488e54bceff4d41ddbfb4c93ec7e2a",
  );
  expect(new CharacterTokenizer("10").fingerprint).not.toBe(
    new CharacterTokenizer("01").fingerprint,
  );
});
