/** Counts with their share and a bar, one column for each run. */

import { type Html, html } from "./html.ts";
import { grouped, NONE, percent } from "./numbers.ts";

const BAR = 80;

/** A count of a whole. */
export interface Counted {
  readonly label: Html | string;
  /** Undefined where a run has no such count. */
  readonly counts: readonly (number | undefined)[];
}

/** `wholes` are what the counts of each column are a share of. */
export function barTable(
  head: string,
  columns: readonly string[],
  wholes: readonly number[],
  rows: readonly Counted[],
): Html {
  const names = columns.map((name) => html`<th scope="col">${name}</th>`);
  const lines = rows.map(
    ({ label, counts }) =>
      html`<tr><th scope="row">${label}</th>${counts.map((count, i) => barCell(count, wholes[i] ?? 0))}</tr>\n`,
  );
  return html`<div class="wide"><table>
<thead><tr><th scope="col">${head}</th>${names}</tr></thead>
<tbody>
${lines}</tbody></table></div>
`;
}

function barCell(count: number | undefined, whole: number): Html {
  if (count === undefined) return html`<td>${NONE}</td>`;
  const share = whole === 0 ? 0 : count / whole;
  return html`<td class="barred">${grouped(count)} <span class="muted">${percent(share)}</span>
<svg class="bar" width="${BAR}" height="8" viewBox="0 0 ${BAR} 8" aria-hidden="true"><rect class="rest" width="${BAR}" height="8"/><rect width="${(BAR * Math.min(1, share)).toFixed(1)}" height="8"/></svg></td>`;
}
