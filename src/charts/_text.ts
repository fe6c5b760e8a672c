/** Text widths, for layout without a browser. */

export type Weight = "regular" | "bold";

export interface TextStyle {
  readonly size: number;
  readonly weight?: Weight;
}

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
