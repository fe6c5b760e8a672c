/** The sizes of text, and text set in lines. */

import { element, escapeText } from "./_svg.ts";
import type { TextStyle } from "./_text.ts";

export interface TypeStyle extends TextStyle {
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
