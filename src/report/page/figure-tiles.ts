/** Key figures in large type, each with a note. */

import { type Html, html } from "./html.ts";

export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly note: string;
}

export function figureTiles(figures: readonly Figure[]): Html {
  const tiles = figures.map(
    ({ label, value, note }) =>
      html`<div><dt>${label}</dt><dd>${value}</dd><dd class="note">${note}</dd></div>\n`,
  );
  return html`<dl class="figures">\n${tiles}</dl>\n`;
}
