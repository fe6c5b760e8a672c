/** Templates that escape every value except HTML, and text of prompts and completions in them. */

import { escapeMarkup } from "../../core/markup.ts";
import { visible } from "../../core/visible.ts";

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | false | undefined | readonly Piece[];

export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.map((text, i) => text + render(pieces[i])).join(""));
}

/** For markup that this program made, such as the SVG of a chart; never for data. */
export const trusted = (text: string): Html => new Html(text);

function render(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (piece === undefined || piece === false) return "";
  return typeof piece === "object" ? piece.map(render).join("") : escapeMarkup(`${piece}`);
}

/** The full text is in the files of the run. */
const MAX_LENGTH = 2000;

/** Line ends, tabs, and all spaces except single ones between words. */
const BLANKS = /(\r?\n|\t| {2,}|(?<!\S) | (?!\S))/;

/** With all white space and control characters made visible, and at most `limit` characters. */
export function textHtml(text: string, limit = MAX_LENGTH): Html {
  if (text === "") return html`<i class="blank">empty</i>`;
  const parts = text.slice(0, limit).split(BLANKS);
  // With one group in the pattern, every second part is a blank.
  const shown = parts.map((part, i) => (i % 2 === 0 ? visible(part) : blank(part)));
  const rest = text.length - limit;
  return html`${shown}${rest > 0 && html`<i class="blank">… ${rest} more characters</i>`}`;
}

function blank(part: string): Html {
  if (part.endsWith("\n")) return html`<i class="blank">${part === "\n" ? "⏎" : "␍⏎"}</i>\n`;
  return html`<i class="blank">${part === "\t" ? "⇥\t" : "·".repeat(part.length)}</i>`;
}

/** A code, id or key from the data. */
export const codeHtml = (text: string): Html => html`<code>${visible(text)}</code>`;
