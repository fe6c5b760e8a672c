/** Headings whose level depends on whether the page has a heading for each run above them. */

import { type Html, html, trusted } from "./html.ts";

export function heading(level: number, body: Html | string): Html {
  const tag = trusted(`h${level}`);
  return html`<${tag}>${body}</${tag}>\n`;
}
