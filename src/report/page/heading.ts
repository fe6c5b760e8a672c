/** Headings whose level depends on whether the page has a heading for each run above them. */

import { type Html, html, trusted } from "./html.ts";

export function heading(level: number, body: Html | string): Html {
  const tag = trusted(`h${level}`);
  return html`<${tag}>${body}</${tag}>\n`;
}

/** Above the rows of a group: what they have in common, and how many there are. */
export function groupHeading(level: number, body: Html | string, count: string): Html {
  const tag = trusted(`h${level}`);
  return html`<${tag} class="group">${body} <span class="muted">${count}</span></${tag}>\n`;
}
