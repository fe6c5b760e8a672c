import fc from "fast-check";
import { expect, test } from "vitest";
import { visible, visibleShort } from "./visible.ts";

test.each([
  ["Final: 22", "Final: 22"],
  ["café naïve 東京 Ωμέγα", "café naïve 東京 Ωμέγα"],
  ["a\tb\nc\r", "a\\tb\\nc\\r"],
  ["Final:\u00a022", "Final:⟨U+00A0⟩22"],
  ["Final: 2\u200b2", "Final: 2⟨U+200B⟩2"],
  ["Final: \u0662\u0662", "Final: ⟨U+0662⟩⟨U+0662⟩"],
  ["F\u0456nal: 22", "F⟨U+0456⟩nal: 22"],
  ["\uff26inal: 22", "⟨U+FF26⟩inal: 22"],
  ["Final\uff1a 22", "Final⟨U+FF1A⟩ 22"],
  ["\x1b[31mred", "⟨U+001B⟩[31mred"],
  ["\u202e22", "⟨U+202E⟩22"],
  ["x\ud800y", "x⟨U+D800⟩y"],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("nothing that moves a cursor or hides ever comes through", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(visible(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    }),
  );
});

test("a short form fits its width and says what was left out", () => {
  expect(visibleShort("x".repeat(1000), 30)).toBe(`${"x".repeat(11)}… (1000 characters)`);
  expect(visibleShort("short", 30)).toBe("short");
  expect([...visibleShort("\u200b".repeat(20), 30)].length).toBeLessThanOrEqual(30);
});
