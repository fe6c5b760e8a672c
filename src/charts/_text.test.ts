import { expect, test } from "vitest";
import { ellipsize, textWidth, wrapText } from "./_text.ts";

const style = { size: 10 };

test("a text is as wide as its characters, and wider in bold", () => {
  expect(textWidth("", style)).toBe(0);
  expect(textWidth("mm", style)).toBe(2 * textWidth("m", style));
  expect(textWidth("W", style)).toBeGreaterThan(textWidth("i", style));
  expect(textWidth("W", { ...style, weight: "bold" })).toBeGreaterThan(textWidth("W", style));
});

test("what does not fit ends in an ellipsis, and then fits", () => {
  expect(ellipsize("short", 100, style)).toBe("short");
  const cut = ellipsize("a label that is far too long", 60, style);
  expect(cut).toMatch(/^a label.*…$/);
  expect(textWidth(cut, style)).toBeLessThanOrEqual(60);
});

test("lines break at spaces; the last one is cut", () => {
  const text = "one two three four five six seven eight";
  expect(wrapText(text, 1000, style)).toEqual([text]);
  const lines = wrapText(text, 60, style, 2);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toBe("one two");
  expect(lines[1]).toMatch(/^three.*…$/);
  for (const line of lines) expect(textWidth(line, style)).toBeLessThanOrEqual(60);
  expect(wrapText("", 60, style)).toEqual([]);
});
