/** The comparison within each slice, as a table. */

import { visible, visibleShort } from "../../core/visible.ts";
import { INTERVALS_ALONE, sliceCaption } from "../../gate/render.ts";
import { pCell, SLICE_STATES, signed, sizeCell } from "../../gate/words.ts";
import type { GateReport } from "../../runs/gate-report.ts";
import type { Section } from "../page/document.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { intervalFigure } from "../page/interval-chart.ts";
import { NONE } from "../page/numbers.ts";
import { linesOf } from "./difference.ts";

/** Undefined without --slice. */
export function slicesOfVerdict({ slices }: GateReport): Section | undefined {
  if (!slices) return undefined;
  const rows = slices.values.map(
    (one) =>
      html`<tr><th scope="row">${codeHtml(one.value)}</th>${cellsOf(one).map(([name, text]) => html`<td data-name="${name}">${text}</td>`)}</tr>\n`,
  );
  return {
    id: "slices",
    title: "Slices",
    body: html`<p>By ${codeHtml(slices.field)}. ${sliceCaption(slices)} ${INTERVALS_ALONE}</p>
<div class="wide"><table class="plain narrow"><thead><tr><th scope="col">${visible(slices.field)}</th>${NAMES.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
${slicesFigure(slices)}`,
  };
}

/** More slices than this are a table only. */
const MOST_DRAWN = 40;

function slicesFigure({ field, margin, values }: Slices): Html | undefined {
  const estimates = values.flatMap(({ value, delta, ci }) =>
    delta === null || ci === null
      ? []
      : [{ label: visibleShort(value, 20), value: delta, low: ci.low, high: ci.high }],
  );
  if (estimates.length === 0 || estimates.length > MOST_DRAWN) return undefined;
  return html`<div class="charts">
${intervalFigure({
  title: "Difference by slice",
  subtitle: `candidate minus baseline, by ${visibleShort(field, 30)}`,
  x: { label: "difference" },
  estimates,
  verticals: linesOf({ margin }),
})}</div>
`;
}

const NAMES = [
  ...["rows", "baseline", "candidate", "difference", "interval", "p (Holm)", "finding"],
] as const;

/** On a phone a cell stands on a line of its own, after its name. */
function cellsOf(one: Slice): [name: string, text: string][] {
  const texts = [
    ...[sizeCell(one), one.baseline.toFixed(4), one.candidate.toFixed(4)],
    one.delta === null ? NONE : signed(one.delta),
    one.ci === null ? NONE : `${signed(one.ci.low)} to ${signed(one.ci.high)}`,
    ...[pCell(one.p_holm), SLICE_STATES[one.state]],
  ];
  return texts.map((text, i) => [NAMES[i] as string, text]);
}

type Slices = NonNullable<GateReport["slices"]>;
type Slice = Slices["values"][number];
