/** Values with their intervals, one line each, above each other on one axis. */

import type { Axis, Vertical } from "../../charts/spec.ts";
import { figure } from "./chart-figure.ts";
import { type Html, html } from "./html.ts";
import { plain } from "./numbers.ts";

export interface Estimate {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface IntervalChart {
  readonly title: string;
  readonly subtitle: string;
  readonly x: Axis;
  readonly estimates: readonly Estimate[];
  readonly verticals?: readonly Vertical[] | undefined;
}

const LINE_HEIGHT = 44;

export function intervalFigure({ title, subtitle, x, estimates, verticals }: IntervalChart): Html {
  const last = estimates.length - 1;
  const names = estimates.map(({ label }) => label).reverse();
  const series = estimates.map(({ value, low, high }, i) => ({
    // The axis names the lines, so that there is no legend.
    label: "",
    slot: i,
    line: "solid" as const,
    markers: "all" as const,
    points: [low, value, high].map((at) => ({ x: at, y: last - i })),
  }));
  const y = { label: "", names, range: [-0.5, last + 0.5] as const };
  const plotHeight = Math.min(4000, Math.max(120, LINE_HEIGHT * estimates.length));
  const told = estimates
    .map(
      ({ label, value, low, high }) =>
        `${label}: ${plain(value)}, ${plain(low)} to ${plain(high)}.`,
    )
    .join(" ");
  const description = `Values with their intervals. Horizontal axis: ${x.label}. ${told}`;
  const rows = estimates.map(
    ({ label, value, low, high }) =>
      html`<tr><th scope="row">${label}</th><td>${plain(value)}</td><td>${plain(low)}</td><td>${plain(high)}</td></tr>`,
  );
  const table = html`<table><thead><tr><td></td><th scope="col">value</th><th scope="col">from</th>
<th scope="col">to</th></tr></thead><tbody>${rows}</tbody></table>`;
  return figure({ title, subtitle, description, x, y, series, verticals, plotHeight }, table);
}
