/**
 * A line chart as one SVG: no script, no reference to anything outside, the same bytes for the same
 * spec. It does not stack, and does not put two scales on one side.
 */

import { type Layout, layOut } from "./_layout.ts";
import { lookOf } from "./_look.ts";
import { makePainter, type Painter, ROOT_CLASS } from "./_paint.ts";
import { describeAxis, drawAxes, type Plot, short } from "./_plot.ts";
import { drawPointLabels } from "./_point-labels.ts";
import { makeScale } from "./_scale.ts";
import { drawBand, drawLine, drawMarkers } from "./_series.ts";
import { element, escapeText, group, px } from "./_svg.ts";
import { FONT_FAMILY, LABEL, lines, NOTE, SUBTITLE, TITLE } from "./_text.ts";
import type { ChartSpec, Series } from "./spec.ts";

/**
 * Draws the series over labelled axes, with a legend outside the plot.
 * @example
 * ```ts
 * const svg = lineChart({
 *   title: "pass@k against k",
 *   x: { label: "k", unit: "samples", integer: true },
 *   y: { label: "pass@k", unit: "share of examples", range: [0, 1] },
 *   series: [{ label: "unbiased estimate", points: [{ x: 1, y: 0.41 }, { x: 2, y: 0.55 }] }],
 * });
 * const png = await toPng(svg);
 * ```
 */
export function lineChart(spec: ChartSpec): string {
  const painter = makePainter(spec.theme ?? "auto");
  const layout = layOut(spec, noteOn(spec));
  const { width, height, plot } = layout;
  const size = `${px(width)} ${px(height)}`;
  return `${element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${size}`,
      class: ROOT_CLASS,
      role: "img",
      "font-family": FONT_FAMILY,
    },
    element("title", {}, escapeText(spec.title)),
    element("desc", {}, escapeText(spec.description ?? describe(spec, plot))),
    painter.style === "" ? "" : element("style", {}, painter.style),
    element("rect", { width, height, ...painter.paint({ fill: "paper" }) }),
    words(layout, painter),
    drawAxes(layout, painter),
    layout.verticals.draw(plot, painter),
    drawSeries(spec.series, plot, painter),
    layout.legend.draw(layout.legendAt.left, layout.legendAt.top, painter),
  )}\n`;
}

function words({ margin, title, subtitle, note, noteAt }: Layout, { paint }: Painter): string {
  const subtitleAt = margin + title.length * TITLE.leading + SUBTITLE.size;
  const heading = { ...paint({ fill: "ink" }), "font-size": TITLE.size, "font-weight": 700 };
  return (
    group(heading, lines(title, margin, margin + TITLE.size * 0.85, TITLE)) +
    group(
      { ...paint({ fill: "muted" }), "font-size": SUBTITLE.size },
      lines(subtitle, margin, subtitleAt, SUBTITLE),
    ) +
    group(
      { ...paint({ fill: "muted" }), "font-size": NOTE.size },
      lines(note, margin, noteAt, NOTE),
    )
  );
}

/** Lines are clipped to the plot; markers are not, or those at the edge would be cut in half. */
const CLIP_ROOM = 1.5;

function drawSeries(series: readonly Series[], plot: Plot, painter: Painter): string {
  const all = series.map((one, place) => ({ one, look: lookOf(one, place) }));
  const bands = all.map(({ one, look }) => drawBand(one, look, plot, painter));
  const strokes = all.map(({ one, look }) => drawLine(one, look, plot, painter));
  const markers = all.map(({ one, look }) => drawMarkers(one, look, plot, painter));
  if ([...strokes, ...markers].every((drawn) => drawn === "")) return emptyPlot(plot, painter);
  const box = {
    x: plot.left - CLIP_ROOM,
    y: plot.top - CLIP_ROOM,
    width: plot.width + 2 * CLIP_ROOM,
    height: plot.height + 2 * CLIP_ROOM,
  };
  const viewBox = [box.x, box.y, box.width, box.height].map(px).join(" ");
  // An inner svg clips without an id, which a second chart on the same page would share.
  const clipped = element("svg", { ...box, viewBox }, ...bands, ...strokes);
  return clipped + markers.join("") + drawPointLabels(series, plot, painter);
}

function emptyPlot({ left, top, width, height }: Plot, { paint }: Painter): string {
  const text = lines(["no data"], left + width / 2, top + height / 2, LABEL, "middle");
  return group({ ...paint({ fill: "muted" }), "font-size": LABEL.size }, text);
}

function describe({ series }: ChartSpec, plot: Plot): string {
  const summaries = series.map(({ label, points }) => {
    const values = points.map(({ y }) => y).filter(plot.y.has);
    const [first, last] = [values[0], values.at(-1)];
    if (first === undefined || last === undefined) return `${label}: no data.`;
    return `${label}: ${values.length} points, first ${short(first)}, last ${short(last)}.`;
  });
  const axes = `Horizontal axis: ${describeAxis(plot.x)}. Vertical axis: ${describeAxis(plot.y)}.`;
  return ["Line chart.", axes, ...summaries].join(" ");
}

/** Counts the points that cannot be drawn. */
function noteOn(spec: ChartSpec): string {
  const [x, y] = [makeScale(spec.x, []), makeScale(spec.y, [])];
  const measured = spec.series.flatMap(({ points }) => points.filter((point) => point.y != null));
  const placeless = new Set(measured.filter((point) => !x.has(point.x) || !y.has(point.y)));
  const isOutside = (value: number, [low, high]: readonly (number | undefined)[] = []) =>
    value < (low ?? value) || value > (high ?? value);
  const outside = measured.filter(
    (point) => isOutside(point.x, spec.x.range) || isOutside(point.y ?? 0, spec.y.range),
  );
  const reports = [
    [placeless.size, "not drawn (not finite, or not above 0 on a log axis)"],
    [outside.filter((point) => !placeless.has(point)).length, "outside the axes"],
  ] as const;
  return reports
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${count === 1 ? "point is" : "points are"} ${what}.`)
    .join(" ");
}
