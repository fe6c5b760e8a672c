import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytePairTokenizer } from "./byte-pair.ts";

const BYTES = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

/** A vocabulary of every byte, then the given tokens in order. */
const toy = (...more: string[]) => {
  const ranks = new Map([...new Set([...BYTES, ...more])].map((token, rank) => [token, rank]));
  return { ranks, tokenizer: bytePairTokenizer({ name: "toy", ranks, pattern: /.+/gsu }) };
};

/** The definition: join the pair of lowest rank, the leftmost first, until there is none. */
function slowly(bytes: string, ranks: ReadonlyMap<string, number>): number[] {
  const parts = [...bytes];
  const rankAt = (at: number) => ranks.get(`${parts[at]}${parts[at + 1]}`) ?? Infinity;
  while (!ranks.has(bytes)) {
    const places = parts.slice(1).map((_, at) => at);
    const best = places.reduce((a, b) => (rankAt(b) < rankAt(a) ? b : a), 0);
    if (rankAt(best) === Infinity) break;
    parts.splice(best, 2, `${parts[best]}${parts[best + 1]}`);
  }
  return (ranks.has(bytes) ? [bytes] : parts).map((part) => ranks.get(part) ?? -1);
}

describe("joining pairs", () => {
  test.each([
    ["the lowest rank goes first", ["bc", "ab"], "abc", ["a", "bc"]],
    ["of equal ranks the leftmost goes first", ["aa"], "aaa", ["aa", "a"]],
    ["a joined pair can be joined again", ["ab", "abab"], "xabab", ["x", "abab"]],
    ["a whole piece is one token however it came about", ["abc"], "abc", ["abc"]],
    ["a token that no chain of pairs reaches is not used", ["abc"], "xabc", ["x", "a", "b", "c"]],
    ["a lower rank can appear late", ["ab", "cd", "bab", "abcd"], "xabcd", ["x", "abcd"]],
  ])("%s", (_, more, text, tokens) => {
    const { ranks, tokenizer } = toy(...more);
    expect(tokenizer.encode(text)).toEqual(tokens.map((token) => ranks.get(token)));
  });

  test("is what the definition says, for any vocabulary and text", () => {
    const word = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength, minLength: 1 });
    fc.assert(
      fc.property(fc.array(word(6), { maxLength: 40 }), word(40), (more, text) => {
        const { ranks, tokenizer } = toy(...more);
        expect(tokenizer.encode(text)).toEqual(slowly(text, ranks));
      }),
      { numRuns: 1000 },
    );
  });

  test("one piece after another, long then short, leaves nothing behind", () => {
    const { tokenizer } = toy("ab", "abab");
    const fresh = (text: string) => toy("ab", "abab").tokenizer.encode(text);
    for (const text of ["ab".repeat(500), "b", "xab", "", "aab", "ba".repeat(999)]) {
      expect(tokenizer.encode(text)).toEqual(fresh(text));
    }
  });
});

test("an id that is not in the vocabulary is an error", () => {
  const { tokenizer } = toy();
  for (const id of [256, -1, 1.5, Number.NaN]) {
    expect(() => tokenizer.bytesOf(id)).toThrow(`toy has no token ${id}`);
    expect(() => tokenizer.decode([97, id])).toThrow(RangeError);
  }
});

test("decoding joins the bytes first, and keeps a byte order mark", () => {
  const { tokenizer } = toy();
  expect(tokenizer.decode([0xf0, 0x9f, 0x98, 0x80])).toBe("😀");
  expect(tokenizer.decode([0xef, 0xbb, 0xbf, 97])).toBe("\ufeffa");
  expect(tokenizer.decode([97, 0xf0])).toBe("a\ufffd");
  expect(tokenizer.decode([])).toBe("");
});
