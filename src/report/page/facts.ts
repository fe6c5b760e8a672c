/** Facts about a run: a name and a value each. */

import { visibleShort } from "../../core/visible.ts";
import { type Html, html } from "./html.ts";

export type Fact = readonly [name: string, value: string | Html];

const MAX_VALUE = 160;

/** Facts without a value are left out. */
export function factList(facts: readonly (Fact | undefined)[]): Html {
  const rows = facts
    .filter((fact) => fact !== undefined)
    .map(
      ([name, value]) =>
        html`<div><dt>${name}</dt><dd>${typeof value === "string" ? visibleShort(value, MAX_VALUE) : value}</dd></div>\n`,
    );
  return html`<dl class="facts stacked">\n${rows}</dl>\n`;
}
