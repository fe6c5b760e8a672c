/** The legend, in rows below the plot or in one column beside it. */

import { drawKey, KEY_WIDTH, lookOf } from "./_look.ts";
import type { Painter } from "./_paint.ts";
import { group } from "./_svg.ts";
import { ellipsize, LEGEND, lines, textWidth } from "./_text.ts";
import type { Series } from "./spec.ts";

export interface Legend {
  /** Of the widest entry. */
  readonly width: number;
  readonly height: number;
  draw(left: number, top: number, painter: Painter): string;
}

const KEY_GAP = 8;
const ENTRY_GAP = 24;

export function makeLegend(series: readonly Series[], width: number, isColumn: boolean): Legend {
  const entries = series.flatMap((one, place) => {
    if (one.label === "") return [];
    const label = ellipsize(legendLabel(one), width - KEY_WIDTH - KEY_GAP, LEGEND);
    const hasBand = one.points.some(({ low, high }) => low != null && high != null);
    const textAt = KEY_WIDTH + KEY_GAP;
    return [{ label, hasBand, look: lookOf(one, place), width: textAt + textWidth(label, LEGEND) }];
  });
  const spots = place(entries, isColumn ? 0 : width);
  const rows = entries.length === 0 ? 0 : (spots.at(-1)?.row ?? 0) + 1;
  const draw = (left: number, top: number, painter: Painter) => {
    const drawn = entries.map(({ label, look, hasBand }, i) => {
      const x = left + (spots[i]?.x ?? 0);
      const y = top + ((spots[i]?.row ?? 0) + 0.5) * LEGEND.leading;
      const text = lines([label], x + KEY_WIDTH + KEY_GAP, y + LEGEND.size * 0.36, LEGEND);
      return drawKey(look, hasBand, { x, y }, painter) + text;
    });
    return group({ ...painter.paint({ fill: "ink" }), "font-size": LEGEND.size }, ...drawn);
  };
  return {
    width: Math.max(0, ...entries.map((entry) => entry.width)),
    height: rows * LEGEND.leading,
    draw,
  };
}

interface Place {
  readonly x: number;
  readonly row: number;
}

/** In columns where that takes no more rows than filling each row does. */
function place(entries: readonly { width: number }[], width: number): Place[] {
  const filled = fill(entries, width);
  const column = Math.max(0, ...entries.map((entry) => entry.width));
  const even = fill(
    entries.map(() => ({ width: column })),
    width,
  );
  return (even.at(-1)?.row ?? 0) <= (filled.at(-1)?.row ?? 0) ? even : filled;
}

function fill(entries: readonly { width: number }[], width: number): Place[] {
  let [x, row] = [0, 0];
  return entries.map((entry) => {
    if (x > 0 && x + entry.width > width) [x, row] = [0, row + 1];
    const spot = { x, row };
    x += entry.width + ENTRY_GAP;
    return spot;
  });
}

/** A series without points is listed as empty. */
function legendLabel({ label, points }: Series): string {
  return points.some(({ y }) => typeof y === "number") ? label : `${label} (no data)`;
}
