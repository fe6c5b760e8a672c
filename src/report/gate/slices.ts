/** The comparison within each slice, as a table. */

import { visible } from "../../core/visible.ts";
import { pCell, SLICE_STATES, signed } from "../../gate/words.ts";
import type { GateReport } from "../../runs/gate-report.ts";
import type { Section } from "../page/document.ts";
import { codeHtml, html } from "../page/html.ts";
import { grouped, NONE } from "../page/numbers.ts";

/** Undefined without --slice. */
export function slicesOfVerdict({ slices }: GateReport): Section | undefined {
  if (!slices) return undefined;
  const rows = slices.values.map(
    (one) =>
      html`<tr><th scope="row">${codeHtml(one.value)}</th><td>${grouped(one.n)}</td><td>${one.baseline.toFixed(4)}</td><td>${one.candidate.toFixed(4)}</td><td>${one.delta === null ? NONE : signed(one.delta)}</td><td>${one.ci === null ? NONE : `${signed(one.ci.low)} to ${signed(one.ci.high)}`}</td><td>${pCell(one.p_holm)}</td><td>${SLICE_STATES[one.state]}</td></tr>\n`,
  );
  const margin =
    slices.margin !== undefined &&
    html`<p>A loss of ${slices.margin} or more must be ruled out in every slice.</p>\n`;
  return {
    id: "slices",
    title: "Slices",
    body: html`${margin}<p>p-values are corrected for the number of slices (Holm).</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">${visible(slices.field)}</th><th scope="col">rows</th><th scope="col">baseline</th><th scope="col">candidate</th><th scope="col">difference</th><th scope="col">interval</th><th scope="col">p (Holm)</th><th scope="col">finding</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`,
  };
}
