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
      html`<tr><th scope="row">${codeHtml(one.value)}</th>${cellsOf(one).map(([name, text]) => html`<td data-name="${name}">${text}</td>`)}</tr>\n`,
  );
  const margin =
    slices.margin !== undefined &&
    html`<p>A loss of ${slices.margin} or more must be ruled out in every slice.</p>\n`;
  return {
    id: "slices",
    title: "Slices",
    body: html`${margin}<p>By ${codeHtml(slices.field)}. p-values are corrected for the number of slices (Holm).</p>
<div class="wide"><table class="plain narrow"><thead><tr><th scope="col">${visible(slices.field)}</th>${NAMES.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`,
  };
}

const NAMES = [
  ...["rows", "baseline", "candidate", "difference", "interval", "p (Holm)", "finding"],
] as const;

/** On a phone a cell stands on a line of its own, after its name. */
function cellsOf(one: Slice): [name: string, text: string][] {
  const texts = [
    ...[grouped(one.n), one.baseline.toFixed(4), one.candidate.toFixed(4)],
    one.delta === null ? NONE : signed(one.delta),
    one.ci === null ? NONE : `${signed(one.ci.low)} to ${signed(one.ci.high)}`,
    ...[pCell(one.p_holm), SLICE_STATES[one.state]],
  ];
  return texts.map((text, i) => [NAMES[i] as string, text]);
}

type Slice = NonNullable<GateReport["slices"]>["values"][number];
