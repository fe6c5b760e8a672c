/** The charts of a page: one per curve that some run has data for, all runs in the same chart. */

import type { ChartSpec, LineStyle, Point, Series, Vertical } from "../../charts/spec.ts";
import { visible } from "../../core/visible.ts";
import { chartFigure } from "../page/chart-figure.ts";
import { type Html, html } from "../page/html.ts";
import { type Curve, curvesOf, OVERVIEW_SECTION } from "./curve-list.ts";
import { phaseMarks } from "./phases.ts";
import type { NamedRun } from "./run-names.ts";
import { binned, binSize } from "./series.ts";

export function curvesSection(runs: readonly NamedRun[]): Html {
  const sections = new Map<string, Html[]>();
  for (const curve of curvesOf(runs.map(({ run }) => run))) {
    const figure = curveFigure(curve, runs);
    if (figure) sections.set(curve.section, [...(sections.get(curve.section) ?? []), figure]);
  }
  if (sections.size === 0) return html`<p>The run has no steps, so there are no curves.</p>`;
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

function curveFigure(curve: Curve, runs: readonly NamedRun[]): Html | undefined {
  const lines = curve.lines.filter((line) => runs.some(({ run }) => line.points(run).length > 0));
  const drawn = runs.flatMap(({ name, run }, i) =>
    lines.flatMap((line, j): Drawn[] => {
      const points = line.points(run);
      if (points.length === 0) return [];
      // With several runs, the colour stands for the run and the dash pattern for the line.
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

const MAX_POINTS = 60;

function specOf(curve: Curve, drawn: readonly Drawn[], runs: readonly NamedRun[]): ChartSpec {
  const size = binSize(Math.max(...drawn.map(({ points }) => points.length)), MAX_POINTS);
  const series = drawn.map(({ label, points, look }): Series => {
    const shown = points.length > MAX_POINTS ? binned(points, size) : points;
    // Several overlapping bands are unreadable; a single one shows the range behind the means.
    const bare = shown.map(({ x, y }) => ({ x, y }));
    return { label, ...look, points: shown !== points && drawn.length > 1 ? bare : shown };
  });
  const isOverview = curve.section === OVERVIEW_SECTION;
  const band = drawn.length > 1 ? "" : ", minimum to maximum shaded";
  const means = size > 1 ? `means of ${size} steps${band}` : "";
  return {
    title: visible(curve.title),
    subtitle: [curve.note(runs.map(({ run }) => run)), means]
      .filter((part) => part !== "")
      .join("; "),
    x: { label: "step", integer: true, ...(isOverview && { range: [0, lastStep(runs)] as const }) },
    y: { ...curve.y, label: visible(curve.y.label) },
    series,
    verticals: marksOf(curve, runs),
  };
}

/** At least 1, so that the axis has a length. */
const lastStep = (runs: readonly NamedRun[]) =>
  Math.max(1, ...runs.map(({ run }) => run.steps.at(-1)?.step ?? 0));

/** For one run only, since the marks of several would cover the data. */
function marksOf({ section, title }: Curve, runs: readonly NamedRun[]): Vertical[] {
  const [only, ...others] = runs;
  if (!only || others.length > 0) return [];
  return [
    ...(PHASED.has(title) ? phaseMarks(only.run) : []),
    ...(MARKED.has(section) ? alarmMarks(only) : []),
  ];
}

/** The charts that mark the phases of the run. */
const PHASED = new Set(["Reward in training", "Pass rate on validation"]);

/** The sections whose charts mark alarms. */
const MARKED = new Set([OVERVIEW_SECTION, "Reward", "Distance from the reference", "Constraint"]);

/** The first alarm of each kind. */
function alarmMarks({ run }: NamedRun): Vertical[] {
  const first = new Map<string, Vertical>();
  for (const { alarm, step } of run.alarms ?? []) {
    if (!first.has(alarm)) first.set(alarm, { x: step, label: visible(alarm) });
  }
  return [...first.values()].slice(0, 3);
}
