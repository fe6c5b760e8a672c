import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  normalisedAscii,
  normalisedPrompt,
  normalisedUnicode,
  promptFingerprint,
} from "./prompt-fingerprint.ts";
import { PromptSet } from "./prompt-set.ts";

describe("normalised prompts", () => {
  test.each<[string, string]>([
    ["Compute 2 + 2.", "compute  2+2 ."],
    ["Compute 2 + 2.", "COMPUTE\t2 +\n2."],
    ["Compute 2 + 2.", "Compute ２ + ２."],
    ["Compute 2 + 2.", "\u200bCom\u00adpute 2 + 2.\ufeff"],
    ...[0xfe0f, 0x034f, 0x2800, 0x3164, 0xe0100, 0x0336, 0x0e38, 0x20e3, 0x200d, 0x17b4].map(
      (code): [string, string] => ["Compute 2 + 2.", `Compute 2 + 2${String.fromCodePoint(code)}.`],
    ),
    ["Compute 2 + 2.", "Co\u0301mpu\u0336te\u2800\ufe0f2 \u034f+ 2."],
    ["Compute 2 + 2.", "Compute\u31642 + 2."],
    ["Résumé", "Re\u0301sume\u0301"],
    ["Straße 5", "STRASSE 5".replace("SS", "ß")],
  ])("%j is %j", (one, other) => {
    expect(normalisedPrompt(one)).toBe(normalisedPrompt(other));
    expect(promptFingerprint(one)).not.toBe(promptFingerprint(other));
  });

  test.each([
    ["Sort 1 23", "Sort 12 3"],
    ["Compute 2 + 2.", "Compute 2 - 2."],
    ["a b", "ab"],
    ["Is 2 = 3?", "Is 2 ≠ 3?"],
    ["कुल", "कल"],
    ["かき", "がき"],
    ["ที่", "ที"],
    ["Compute 5", "Compute 5!"],
  ])("%j is not %j", (one, other) => {
    expect(normalisedPrompt(one)).not.toBe(normalisedPrompt(other));
  });

  test("normalising twice changes nothing more", () => {
    const odd = fc.constantFrom(
      ...["a", "Σ", "か", "क", "ก", "=", " ", "\u0301", "\u0338", "\u3099", "\u0941", "\u0e38"],
      ...["\u034f", "\u2800", "\u3164", "\ue000", "\u0323", "\u00b4", "İ", "\u1100", "≠"],
    );
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.string({ unit: odd }),
    );
    fc.assert(
      fc.property(text, (one) => {
        const once = normalisedPrompt(one);
        expect(normalisedPrompt(once)).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });

  test("ASCII prompts keep the form that the embedded policy's set was made with", () => {
    expect(normalisedPrompt(" Compute  2 + (-3) * 4.\nReply ~ `x^y` ")).toBe(
      "compute 2+(-3)*4.reply~`x^y`",
    );
  });
});

test("ASCII has its own way to the same", () => {
  const ascii = fc.string({ unit: "binary-ascii" });
  const spaced = fc.string({
    unit: fc.constantFrom(" ", "\t", "a", "B", "1", "+", "\u007f", "\0"),
  });
  fc.assert(
    fc.property(fc.oneof(ascii, spaced), (text) => {
      expect(normalisedAscii(text)).toBe(normalisedUnicode(text));
    }),
    { numRuns: 1000 },
  );
});

describe("PromptSet", () => {
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `Compute ${from + i} + 1.`);
  const setOf = (prompts: readonly string[]) => {
    const set = new PromptSet();
    for (const prompt of prompts) set.add(prompt);
    return set;
  };

  test("holds what was added, and after a round trip nothing else of 20,000 others", () => {
    const set = PromptSet.fromBytes(setOf(numbered(0, 5000)).toBytes());
    expect(set.size).toBe(5000);
    expect(numbered(0, 5000).every((prompt) => set.has(prompt))).toBe(true);
    expect(numbered(5000, 25_000).some((prompt) => set.has(prompt))).toBe(false);
    expect(set.falsePositiveRate).toBeCloseTo(5000 / 2 ** 40, 20);
  });

  test("a text is found by its lines and by every beginning that ends with one", () => {
    // What ends a line would make two of it.
    const line = fc
      .string({ unit: "grapheme", maxLength: 8 })
      .map((text) => text.replace(/[\n\v\f\r\u0085\u2028\u2029]/g, ""));
    const odd = fc.constantFrom(
      "a b",
      " 2",
      "+ 3",
      "",
      "Σ",
      "x ",
      "\u200b",
      "´",
      "\u0301e",
      "\u0e38e",
      "ก",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(line, odd), { maxLength: 8 }), (lines) => {
        const set = new PromptSet();
        set.addText(lines.join("\n"));
        const beginnings = lines.map((_, i) => lines.slice(0, i + 1).join("\n"));
        for (const one of [...lines, ...beginnings]) {
          expect(set.has(one) || normalisedPrompt(one) === "").toBe(true);
        }
        expect(set.size).toBeLessThanOrEqual(2 * lines.length);
      }),
    );
  });

  test("and not by its other parts", () => {
    const set = new PromptSet();
    set.addText("One plus two?\nThree.\nFour.");
    for (const part of ["One plus", "plus two?", "Three.\nFour.", ""]) {
      expect(set.has(part)).toBe(false);
    }
  });

  test("a prompt costs less than four bytes", () => {
    expect(setOf(numbered(0, 5000)).toBytes().length / 5000).toBeLessThan(4);
  });

  test("bytes depend on the prompts, not on their order; a union is that of all", () => {
    const [one, other] = [numbered(0, 60), numbered(40, 100)];
    const all = setOf([...other, ...one].reverse());
    expect(setOf(one).joinedWith(setOf(other)).toBytes()).toEqual(all.toBytes());
    expect(new PromptSet().toBytes().length).toBeLessThan(8);
    expect(PromptSet.fromBytes(new PromptSet().toBytes()).size).toBe(0);
  });

  test("bytes that are cut short or are something else are refused", () => {
    const bytes = setOf(numbered(0, 50)).toBytes();
    expect(() => PromptSet.fromBytes(bytes.subarray(0, 40))).toThrow(RangeError);
    expect(() => PromptSet.fromBytes(new Uint8Array(3))).toThrow(RangeError);
    expect(() => PromptSet.fromBytes(new Uint8Array(50).fill(0xff))).toThrow(RangeError);
  });
});
