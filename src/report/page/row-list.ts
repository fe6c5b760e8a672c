/** The rows of a group: the first ones in sight, the others behind a line to open. */

import { type Html, html } from "./html.ts";
import { grouped, many } from "./numbers.ts";
import type { RowGroup } from "./row-groups.ts";

const IN_SIGHT = 3;

export function rowList({ rows, count }: Pick<RowGroup, "rows" | "count">): Html {
  const more = rows.slice(IN_SIGHT);
  return html`${rows.slice(0, IN_SIGHT)}${
    more.length > 0 &&
    html`<details class="more"><summary>${many(more.length, "more row")}</summary>
${more}</details>
`
  }${count > rows.length && html`<p class="muted">${firstOf(rows.length, count)} are shown.</p>\n`}`;
}

/** "The first 10 of 1,204 rows" */
export const firstOf = (shown: number, count: number, noun = "row"): string =>
  `The first ${grouped(shown)} of ${many(count, noun)}`;

/** How blanks and odd characters are shown. */
export const LEGEND = html`<p class="muted">White space is shown as · ⇥ ⏎, invisible and lookalike characters as ⟨U+…⟩.</p>
`;
