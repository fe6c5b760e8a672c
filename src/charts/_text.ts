/** The sizes of text, widths for layout without a browser, and text set in lines. */

import { element, escapeText } from "./_svg.ts";

interface TextStyle {
  readonly size: number;
  readonly weight?: "bold";
}

interface TypeStyle extends TextStyle {
  readonly leading: number;
}

/** The first family is the one of `assets`; browsers that lack it take the next. */
export const FONT_FAMILY = "'Room Sans', system-ui, sans-serif";

export const TITLE: TypeStyle = { size: 18, weight: "bold", leading: 24 };
export const SUBTITLE: TypeStyle = { size: 13, leading: 18 };
export const LABEL: TypeStyle = { size: 13.5, leading: 18 };
export const TICK: TypeStyle = { size: 12.5, leading: 16 };
export const LEGEND: TypeStyle = { size: 13, leading: 22 };
export const NOTE: TypeStyle = { size: 12, leading: 16 };

/**
 * Widths of Room Sans in thousandths of the size, rounded up to a group. It is one of the wider
 * sans-serifs, so text that falls back to a system font has room too.
 */
const WIDTHS: readonly (readonly [width: number, characters: string])[] = [
  [295, "'ijlIJ"],
  [340, " ,./:;\\|·"],
  [410, "f-()[]t!r²³"],
  [540, '"*_`–‖szε°⁻?'],
  [615, "cLFkvxyPTYoaeπτδθγλ"],
  [640, "hnuSbdgpqE$0123456789{}βσμρΣ"],
  [700, "KAVXZBRCαΔ"],
  [790, "ULNHDG&OQθΩ∝"],
  [840, "w#+<=>^~±×→−≤≥"],
];
const WIDEST = 1000;
const BOLD = 1.13;

const WIDTH_OF = new Map(
  WIDTHS.flatMap(([width, characters]) => [...characters].map((character) => [character, width])),
);

export function textWidth(text: string, { size, weight }: TextStyle): number {
  let width = 0;
  for (const character of text) width += WIDTH_OF.get(character) ?? WIDEST;
  return (width / 1000) * size * (weight === "bold" ? BOLD : 1);
}

/** Truncates text that does not fit, with an ellipsis. */
export function ellipsize(text: string, width: number, style: TextStyle): string {
  if (textWidth(text, style) <= width) return text;
  const characters = [...text];
  while (characters.length > 1 && textWidth(`${characters.join("")}…`, style) > width) {
    characters.pop();
  }
  return `${characters.join("").trimEnd()}…`;
}

/** At most `most` lines broken at spaces; lines that are too long are truncated. */
export function wrapText(text: string, width: number, style: TextStyle, most = 3): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    const fits = textWidth(longer, style) <= width;
    if (lines.length === 0 || (!fits && lines.length < most)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((line) => ellipsize(line, width, style));
}

/** Text elements below each other; `y` is the baseline of the first. The group sets the size. */
export function lines(
  texts: readonly string[],
  x: number,
  y: number,
  { leading }: TypeStyle,
  anchor?: "middle" | "end",
): string {
  return texts
    .map((text, i) =>
      element("text", { x, y: y + i * leading, "text-anchor": anchor }, escapeText(text)),
    )
    .join("");
}
