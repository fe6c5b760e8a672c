/** Text of prompts and completions with all whitespace and control characters made visible. */

import { visible } from "../../core/visible.ts";
import { type Html, html } from "./html.ts";

/** The full text is in samples.jsonl. */
const MAX_LENGTH = 2000;

/** Line ends, tabs, and all spaces except single ones between words. */
const BLANKS = /(\r?\n|\t| {2,}|(?<!\S) | (?!\S))/;

export function textHtml(text: string): Html {
  if (text === "") return html`<i class="blank">empty</i>`;
  const parts = text.slice(0, MAX_LENGTH).split(BLANKS);
  // With one group in the pattern, every second part is a blank.
  const shown = parts.map((part, i) => (i % 2 === 0 ? visible(part) : blank(part)));
  const rest = text.length - MAX_LENGTH;
  return html`${shown}${rest > 0 && html`<i class="blank">… ${rest} more characters</i>`}`;
}

function blank(part: string): Html {
  if (part.endsWith("\n")) return html`<i class="blank">${part === "\n" ? "⏎" : "␍⏎"}</i>\n`;
  return html`<i class="blank">${part === "\t" ? "⇥\t" : "·".repeat(part.length)}</i>`;
}

/** A code, id or key from the data. */
export const codeHtml = (text: string): Html => html`<code>${visible(text)}</code>`;
