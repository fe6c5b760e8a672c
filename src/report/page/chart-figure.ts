/** A chart on the page: the SVG, and its numbers in a table for screen readers. */

import { lineChart } from "../../charts/line-chart.ts";
import type { ChartSpec, Point } from "../../charts/spec.ts";
import { type Html, html, trusted } from "./html.ts";
import { grouped, plain } from "./numbers.ts";

/** Legible on a phone; three side by side on a desktop. */
export const CHART_SIZE = { width: 400, plotHeight: 200 };

export interface Column {
  readonly label: string;
  readonly points: readonly Point[];
}

/** `columns` hold the measured values where the chart shows means of them; `across` names x. */
export function chartFigure(
  spec: ChartSpec,
  columns: readonly Column[] = spec.series,
  across = "step",
): Html {
  const head = columns.map(({ label }) => html`<th scope="col">${label}</th>`);
  const rows = stepsToShow(columns).map((x) => {
    const cells = columns.map(
      ({ points }) => html`<td>${plain(points.find((point) => point.x === x)?.y)}</td>`,
    );
    return html`<tr><th scope="row">${grouped(x)}</th>${cells}</tr>`;
  });
  const table = html`<table><thead><tr><th scope="col">${across}</th>${head}</tr></thead>
<tbody>${rows}</tbody></table>`;
  return figure(spec, table);
}

export function figure(spec: ChartSpec, table: Html, kind = "chart"): Html {
  return html`<figure class="${kind}">
${trusted(lineChart({ ...CHART_SIZE, ...spec }))}<details><summary>Numbers<span class="unseen">: ${spec.title}</span></summary>
<div class="wide">${table}</div></details>
</figure>
`;
}

const MAX_ROWS = 9;

/** Steps of the sparsest series with more than two points, since the denser ones have those steps too. */
function stepsToShow(columns: readonly Column[]): number[] {
  const bySize = columns.map(({ points }) => points).sort((a, b) => a.length - b.length);
  const chosen = bySize.find(({ length }) => length > 2) ?? bySize.at(-1) ?? [];
  const last = chosen.length - 1;
  const count = Math.min(MAX_ROWS, chosen.length);
  const places = Array.from({ length: count }, (_, i) =>
    Math.round((i * last) / Math.max(1, count - 1)),
  );
  return places.map((place) => chosen[place]?.x ?? 0);
}
