/** What a policy said, with nothing invisible left in it. */

import { visible } from "../../core/visible.ts";
import { type Html, html } from "./html.ts";

/** A page is no archive: the whole text is in samples.jsonl. */
const LONGEST = 2000;

/** Line ends, tabs, and spaces that could be overlooked: all but single ones between words. */
const BLANKS = /(\r?\n|\t| {2,}|(?<!\S) | (?!\S))/;

/** Text whose blanks can be seen and counted; single spaces between words stay what they are. */
export function shownText(text: string): Html {
  if (text === "") return html`<i class="blank">empty</i>`;
  const parts = text.slice(0, LONGEST).split(BLANKS);
  // With one group in the pattern, every second part is a blank.
  const shown = parts.map((part, i) => (i % 2 === 0 ? visible(part) : blank(part)));
  const rest = text.length - LONGEST;
  return html`${shown}${rest > 0 && html`<i class="blank">… and ${rest} characters more</i>`}`;
}

function blank(part: string): Html {
  if (part.endsWith("\n")) return html`<i class="blank">${part === "\n" ? "⏎" : "␍⏎"}</i>\n`;
  return html`<i class="blank">${part === "\t" ? "⇥\t" : "·".repeat(part.length)}</i>`;
}

/** A name out of the data: a code, an id, a key. */
export const name = (text: string): Html => html`<code>${visible(text)}</code>`;
