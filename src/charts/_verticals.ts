/** Vertical lines at positions of the x axis, with their labels above the plot. */

import type { Painter } from "./_paint.ts";
import type { Plot } from "./_plot.ts";
import { element, group, px } from "./_svg.ts";
import { ellipsize, lines, NOTE, textWidth } from "./_text.ts";
import type { Vertical } from "./spec.ts";

interface Placed {
  readonly x: number;
  readonly textAt: number;
  readonly label: string;
  readonly row: number;
}

export interface Verticals {
  readonly height: number;
  draw(plot: Plot, painter: Painter): string;
}

const GAP = 10;
/** Between a line and a label beside it. */
const BESIDE = 5;
/** Of the whole picture. */
const EDGE = 8;

/** `across` has the left, the width and the x scale; how far down the plot starts follows from this. */
export function placeVerticals(
  verticals: readonly Vertical[],
  across: Pick<Plot, "left" | "width" | "x">,
): Verticals {
  const rowEnds: number[] = [];
  const placed = verticals
    .filter(({ x }) => across.x.shows(x))
    .map((one) => ({ ...one, x: across.left + across.x.place(one.x) * across.width }))
    .sort((a, b) => a.x - b.x)
    .map(({ x, label, side }): Placed => {
      const text = ellipsize(label, across.width, NOTE);
      const width = textWidth(text, NOTE);
      const leftmost = startOf(side, x, width, across.left);
      const start = Math.min(leftmost, across.left + across.width - width);
      const free = rowEnds.findIndex((end) => end + GAP <= start);
      const row = free === -1 ? rowEnds.length : free;
      rowEnds[row] = start + width;
      return { x, textAt: start + width / 2, label: text, row };
    });
  const height = rowEnds.length === 0 ? 0 : rowEnds.length * NOTE.leading + 4;
  return { height, draw: (plot, painter) => draw(placed, plot, painter) };
}

/** A label on the left may reach past the plot: above the names of the axis there is room. */
function startOf(side: Vertical["side"], x: number, width: number, left: number): number {
  if (side === "left") return Math.max(EDGE, x - BESIDE - width);
  return side === "right" ? x + BESIDE : Math.max(left, x - width / 2);
}

/** The first row is the one next to the plot. */
function draw(placed: readonly Placed[], plot: Plot, { paint }: Painter): string {
  if (placed.length === 0) return "";
  const d = placed.map(({ x }) => `M${px(x)} ${px(plot.top - 3)}V${px(plot.top + plot.height)}`);
  const names = placed.map(({ textAt, label, row }) =>
    lines([label], textAt, plot.top - 7 - row * NOTE.leading, NOTE, "middle"),
  );
  return (
    element("path", {
      d: d.join(""),
      ...paint({ stroke: "muted" }),
      "stroke-dasharray": "4 3",
    }) + group({ ...paint({ fill: "ink" }), "font-size": NOTE.size }, ...names)
  );
}
