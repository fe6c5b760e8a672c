/** The style of a series: colour, dash pattern and marker shape. */

import { type Paint, type Painter, SLOTS } from "./_paint.ts";
import type { Spot } from "./_path.ts";
import { element, group, px } from "./_svg.ts";
import type { LineStyle, Series } from "./spec.ts";

export interface Look {
  readonly colour: Paint;
  readonly line: LineStyle;
  readonly dashes: string | undefined;
  /** Draws the marker around a point. */
  readonly shape: (x: number, y: number) => string;
  readonly hasMarkers: boolean;
  /** In the list of series. */
  readonly place: number;
}

const DASHES: readonly (readonly [LineStyle, string | undefined])[] = [
  ["solid", undefined],
  ["dashed", "8 4"],
  ["dashdot", "9 3 2 3"],
  ["dotted", "2.5 2.5"],
  ["dashed", "14 4"],
  ["dashdot", "9 3 2 3 2 3"],
];

/** Paths around a point, of similar area. */
const SHAPES: readonly Look["shape"][] = [
  (x, y) => `M${px(x - 4)} ${px(y)}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z`,
  (x, y) => `M${px(x - 3.6)} ${px(y - 3.6)}h7.2v7.2h-7.2z`,
  (x, y) => `M${px(x)} ${px(y - 5)}l4.8 8.4h-9.6z`,
  (x, y) => `M${px(x)} ${px(y - 5.2)}l5.2 5.2l-5.2 5.2l-5.2-5.2z`,
  (x, y) => `M${px(x)} ${px(y + 5)}l4.8-8.4h-9.6z`,
  (x, y) => `M${px(x - 1.7)} ${px(y - 5)}h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z`,
];

/** With more series than colours, colours repeat with another dash pattern and marker. */
export function lookOf(series: Series, place: number): Look {
  const { slot = place } = series;
  if (!(Number.isInteger(slot) && slot >= 0)) {
    throw new RangeError(`slot must be a whole number from 0 up, found ${slot}`);
  }
  const round = Math.floor(place / SLOTS);
  const [line, dashes] =
    DASHES.find(([name]) => name === series.line) ?? pick(DASHES, place + round);
  return {
    colour: `c${slot % SLOTS}`,
    line: series.line ?? line,
    dashes,
    shape: pick(SHAPES, place + 2 * round),
    hasMarkers: series.markers !== "none" || series.line === "none",
    place,
  };
}

const pick = <T>(list: readonly T[], place: number): T => list[place % list.length] as T;

export function stroke(d: string, { colour, dashes }: Look, { paint }: Painter): string {
  return element("path", {
    d,
    ...paint({ stroke: colour }),
    "stroke-width": 2,
    "stroke-linejoin": "round",
    "stroke-dasharray": dashes,
  });
}

/** Markers, each with a background-coloured outline that separates it from lines and other markers. */
export function mark(spots: readonly Spot[], { colour, shape }: Look, { paint }: Painter): string {
  const shapes = spots.map(({ x, y }) => element("path", { d: shape(x, y) }));
  return shapes.length === 0 ? "" : group(paint({ fill: colour, stroke: "paper" }), ...shapes);
}

export function shade(d: string, { colour }: Look, { paint }: Painter): string {
  return element("path", { d, ...paint({ fill: colour }), "fill-opacity": 0.18 });
}

export const KEY_WIDTH = 46;

/** The sample in the legend, from `x` rightwards with its middle at `y`. */
export function drawKey(look: Look, hasBand: boolean, { x, y }: Spot, painter: Painter): string {
  const band = hasBand
    ? shade(`M${px(x)} ${px(y - 7)}h${KEY_WIDTH}v14h-${KEY_WIDTH}z`, look, painter)
    : "";
  const line = look.line === "none" ? "" : stroke(`M${px(x)} ${px(y)}h${KEY_WIDTH}`, look, painter);
  return band + line + (look.hasMarkers ? mark([{ x: x + KEY_WIDTH / 2, y }], look, painter) : "");
}
