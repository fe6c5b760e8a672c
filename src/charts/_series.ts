/** The marks of one series: its band, its line and its markers. */

import { type Look, mark, shade, stroke } from "./_look.ts";
import { type Painter, SLOTS } from "./_paint.ts";
import { polyline, runsOf, type Spot, thin } from "./_path.ts";
import { atX, atY, type Plot } from "./_plot.ts";
import type { Point, Series } from "./spec.ts";

export function drawLine({ points }: Series, look: Look, plot: Plot, painter: Painter): string {
  if (look.line === "none") return "";
  const runs = runsOf(points, (point) => spotOf(point, plot)).filter((run) => run.length > 1);
  return runs.length === 0
    ? ""
    : stroke(runs.map((run) => polyline(thin(run))).join(""), look, painter);
}

/** Filled between low and high, wherever both are known. */
export function drawBand({ points }: Series, look: Look, plot: Plot, painter: Painter): string {
  const runs = runsOf(points, ({ x, low, high }) =>
    plot.x.has(x) && plot.y.has(low) && plot.y.has(high)
      ? { x: atX(plot, x), low: atY(plot, low), high: atY(plot, high) }
      : undefined,
  ).filter((run) => run.length > 1);
  const paths = runs.map((run) => {
    const upper = thin(run.map(({ x, high }) => ({ x, y: high })));
    const lower = thin(run.map(({ x, low }) => ({ x, y: low })));
    return `${polyline([...upper, ...lower.toReversed()])}z`;
  });
  return paths.length === 0 ? "" : shade(paths.join(""), look, painter);
}

export function drawMarkers(series: Series, look: Look, plot: Plot, painter: Painter): string {
  return mark(markedSpots(series, look, plot), look, painter);
}

/** A point with a gap on either side has no line, so it always gets a marker. */
export function markedSpots(series: Series, look: Look, plot: Plot): Spot[] {
  const runs = runsOf(series.points, (point) => spotOf(point, plot));
  const lone = runs.filter((run) => run.length === 1).flat();
  const marked = new Set([...lone, ...chooseMarkers(series, look, runs.flat())]);
  return [...marked].filter((spot) => isInside(spot, plot));
}

const SHORT_SERIES = 24;
const MARKER_DISTANCE = 90;
const MAX_MARKERS = 9;

/**
 * All points of a short series; of a long one, the labelled ones and a few at even distances,
 * with an offset per series.
 */
function chooseMarkers(
  series: Series,
  look: Look,
  spots: readonly LabelledSpot[],
): readonly Spot[] {
  if (!look.hasMarkers) return [];
  const isShort = look.line === "none" || spots.length <= SHORT_SERIES;
  if (series.markers === "all" || isShort) return spots;
  const steps = spots.map((spot, i) => apart(spot, spots[i - 1] ?? spot));
  const length = steps.reduce((sum, step) => sum + step, 0);
  const distance = Math.max(MARKER_DISTANCE, length / MAX_MARKERS);
  let left = (distance * ((look.place % SLOTS) + 0.5)) / SLOTS;
  return spots.filter(({ label }, i) => {
    left -= steps[i] ?? 0;
    if (left > 0) return label !== "";
    left = distance;
    return true;
  });
}

const apart = (a: Spot, b: Spot) => Math.hypot(a.x - b.x, a.y - b.y);

interface LabelledSpot extends Spot {
  readonly label: string;
}

export function spotOf({ x, y, label = "" }: Point, plot: Plot): LabelledSpot | undefined {
  if (!plot.x.has(x) || !plot.y.has(y)) return undefined;
  return { x: atX(plot, x), y: atY(plot, y), label: label.trim() };
}

export function isInside({ x, y }: Spot, { left, top, width, height }: Plot): boolean {
  const isAcross = x >= left - 0.5 && x <= left + width + 0.5;
  return isAcross && y >= top - 0.5 && y <= top + height + 0.5;
}
