/** The curves of a page: each chart that some run has anything for, the runs over each other. */

import type { ChartSpec, LineStyle, Point, Series, Vertical } from "../../charts/spec.ts";
import { visible } from "../../core/visible.ts";
import { chartFigure } from "./chart-figure.ts";
import { CURVES, type Curve, furtherCurves } from "./curve-list.ts";
import { type Html, html } from "./html.ts";
import type { Named } from "./named.ts";
import { binned, binSize } from "./series.ts";

export function curvesSection(runs: readonly Named[]): Html {
  const all = [...CURVES, ...furtherCurves(runs.map(({ run }) => run))];
  const sections = new Map<string, Html[]>();
  for (const curve of all) {
    const figure = curveFigure(curve, runs);
    if (figure) sections.set(curve.section, [...(sections.get(curve.section) ?? []), figure]);
  }
  if (sections.size === 0) return html`<p>No step was made, so there is nothing to draw.</p>`;
  return html`${[...sections].map(
    ([title, figures]) => html`<h3>${title}</h3>\n<div class="charts">\n${figures}</div>\n`,
  )}`;
}

interface Drawn {
  readonly label: string;
  readonly points: readonly Point[];
  readonly look: Pick<Series, "slot" | "line">;
}

const PATTERNS: readonly LineStyle[] = ["solid", "dashed", "dotted", "dashdot"];

function curveFigure(curve: Curve, runs: readonly Named[]): Html | undefined {
  const lines = curve.lines.filter((line) => runs.some(({ run }) => line.points(run).length > 0));
  const drawn = runs.flatMap(({ name, run }, i) =>
    lines.flatMap((line, j): Drawn[] => {
      const points = line.points(run);
      if (points.length === 0) return [];
      // Among several runs the colour is the run, and the pattern the line where there are several.
      const pattern = PATTERNS[(lines.length > 1 ? j : i) % PATTERNS.length];
      const look = runs.length > 1 ? { slot: i, line: pattern } : {};
      return [{ label: labelOf(name, line.label, runs.length, lines.length), points, look }];
    }),
  );
  if (drawn.length === 0) return undefined;
  return chartFigure(specOf(curve, drawn, runs), drawn);
}

function labelOf(run: string, line: string, runs: number, lines: number): string {
  if (runs === 1) return visible(line);
  return lines === 1 ? run : `${run}, ${visible(line)}`;
}

const MOST_POINTS = 60;

function specOf(curve: Curve, drawn: readonly Drawn[], runs: readonly Named[]): ChartSpec {
  const size = binSize(Math.max(...drawn.map(({ points }) => points.length)), MOST_POINTS);
  const series = drawn.map(({ label, points, look }): Series => {
    const shown = points.length > MOST_POINTS ? binned(points, size) : points;
    // Ranges over each other are a fog; one alone shows what the means leave out.
    const bare = shown.map(({ x, y }) => ({ x, y }));
    return { label, ...look, points: shown !== points && drawn.length > 1 ? bare : shown };
  });
  const band = drawn.length > 1 ? "" : ", lowest to highest shaded";
  const means = size > 1 ? `means of ${size} steps${band}` : "";
  return {
    title: visible(curve.title),
    subtitle: [curve.note ?? "", means].filter((part) => part !== "").join("; "),
    x: { label: "step", integer: true },
    y: { ...curve.y, label: visible(curve.y.label) },
    series,
    verticals: runs.length === 1 && MARKED.has(curve.section) ? alarmMarks(runs[0]) : [],
  };
}

/** What an alarm is about. */
const MARKED = new Set(["What it earned", "How far it moved", "Constraint"]);

/** The first of each kind, where there is one run: several runs' alarms would cover the data. */
function alarmMarks(named: Named | undefined): Vertical[] {
  const first = new Map<string, Vertical>();
  for (const { alarm, step } of named?.run.alarms ?? []) {
    if (!first.has(alarm)) first.set(alarm, { x: step, label: visible(alarm) });
  }
  return [...first.values()].slice(0, 3);
}
