/** The layout of a chart, computed from its width and the height of its plot. */

import { type Legend, makeLegend } from "./_legend.ts";
import { type AxesParts, labelsFit, type Plot, TICK_GAP } from "./_plot.ts";
import { axisTitle, type LabelledTicks, makeScale, type Scale, ticksOf } from "./_scale.ts";
import { LABEL, NOTE, SUBTITLE, TICK, TITLE, textWidth, wrapText } from "./_text.ts";
import { placeVerticals, type Verticals } from "./_verticals.ts";
import type { ChartSpec } from "./spec.ts";

export interface Layout extends AxesParts {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  readonly title: readonly string[];
  readonly subtitle: readonly string[];
  readonly legend: Legend;
  readonly legendAt: { readonly left: number; readonly top: number };
  readonly verticals: Verticals;
  readonly note: readonly string[];
  readonly noteAt: number;
}

const MARGIN = 18;
const GAP = 12;
const HEADER_GAP = 18;
/** Minimum pixels per tick. */
const TICK_PITCH = { x: 62, y: 48 };
const LEGEND_SHARE = 0.34;

export function layOut(spec: ChartSpec, noteText: string): Layout {
  const { width = 720, plotHeight = 300 } = spec;
  requireSize("width", width, 320);
  requireSize("plotHeight", plotHeight, 120);
  const inner = width - 2 * MARGIN;
  const title = wrapText(spec.title, inner, TITLE);
  const subtitle = wrapText(spec.subtitle ?? "", inner, SUBTITLE);
  const header = title.length * TITLE.leading + subtitle.length * SUBTITLE.leading;

  const points = spec.series.flatMap((series) => series.points);
  const heights = points.flatMap((point) => [point.y, point.low, point.high]);
  const y = makeScale(spec.y, heights, plotHeight / TICK_PITCH.y);
  const yTicks = ticksOf(y, plotHeight / TICK_PITCH.y);
  const yTitle = wrapText(axisTitle(spec.y), plotHeight, LABEL, 2);
  const yTitleAt = MARGIN + LABEL.size * 0.9;
  const left = MARGIN + yTitle.length * LABEL.leading + 6 + widest(yTicks) + TICK_GAP;

  const isBeside = spec.legend === "right";
  const legend = makeLegend(
    spec.series,
    isBeside ? width * LEGEND_SHARE : width - left - MARGIN,
    isBeside,
  );
  const reserved = left + (isBeside ? legend.width + 2 * GAP : 0) + MARGIN;
  const places = [...points, ...(spec.verticals ?? [])].map((point) => point.x);
  const x = makeScale(spec.x, places);
  // A label at the end of the axis reaches past the plot by half its width.
  const overhang = widest(fitTicks(x, width - reserved)) / 2;
  const across = { left, width: width - reserved - overhang, x };
  const xTicks = fitTicks(x, across.width);

  const verticals = placeVerticals(spec.verticals ?? [], across);
  const top = MARGIN + header + HEADER_GAP + verticals.height;
  const plot: Plot = { ...across, top, height: plotHeight, y };
  const xTitle = wrapText(axisTitle(spec.x), across.width, LABEL, 2);
  const xTitleAt = top + plotHeight + TICK_GAP + TICK.leading + LABEL.leading + 2;
  const axisEnd = xTitleAt + (xTitle.length - 1) * LABEL.leading + 4;
  const legendAt = isBeside
    ? { left: left + across.width + overhang + 2 * GAP, top }
    : { left, top: axisEnd + GAP };
  const legendEnd = legend.height === 0 ? axisEnd : legendAt.top + legend.height;
  const note = wrapText(noteText, inner, NOTE);
  const noteAt = Math.max(axisEnd, legendEnd) + (note.length > 0 ? GAP + NOTE.size : 0);
  const height = Math.ceil(noteAt + Math.max(0, note.length - 1) * NOTE.leading + MARGIN);
  return {
    ...{ width, height, margin: MARGIN, title, subtitle, plot, xTicks, yTicks, xTitle, yTitle },
    ...{ xTitleAt, yTitleAt, legend, legendAt, verticals, note, noteAt },
  };
}

function requireSize(name: string, value: number, least: number): void {
  if (value >= least && value <= 4000) return;
  throw new RangeError(`${name} must lie between ${least} and 4000 pixels, found ${value}`);
}

/** As many ticks as fit with their labels. */
function fitTicks(scale: Scale, width: number): LabelledTicks {
  for (let most = Math.floor(width / TICK_PITCH.x); most > 2; most--) {
    const ticks = ticksOf(scale, most);
    if (labelsFit(scale, ticks, width)) return ticks;
  }
  return ticksOf(scale, 2);
}

function widest({ labels }: LabelledTicks): number {
  return Math.max(0, ...labels.map((label) => textWidth(label, TICK)));
}
