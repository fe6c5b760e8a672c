/** From points to paths: gaps are kept, dense points are thinned. */

import { px } from "./_svg.ts";

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Consecutive readable points, split at each unreadable one. */
export function runsOf<P, T>(points: readonly P[], read: (point: P) => T | undefined): T[][] {
  const runs: T[][] = [];
  let isOpen = false;
  for (const point of points) {
    const item = read(point);
    if (item !== undefined && isOpen) runs.at(-1)?.push(item);
    else if (item !== undefined) runs.push([item]);
    isOpen = item !== undefined;
  }
  return runs;
}

export function polyline(spots: readonly Spot[]): string {
  return spots.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${px(x)} ${px(y)}`).join("");
}

const MAX_POINTS = 1500;

/** Keeps the first, last, lowest and highest point of each pixel column, which looks the same. */
export function thin(spots: readonly Spot[]): readonly Spot[] {
  if (spots.length <= MAX_POINTS) return spots;
  const kept: Spot[] = [];
  let column: Spot[] = [];
  for (const spot of spots) {
    if (column[0] !== undefined && Math.round(column[0].x) !== Math.round(spot.x)) {
      kept.push(...outline(column));
      column = [];
    }
    column.push(spot);
  }
  return [...kept, ...outline(column)];
}

function outline(column: readonly Spot[]): readonly Spot[] {
  const top = column.reduce((best, spot) => (spot.y < best.y ? spot : best));
  const bottom = column.reduce((best, spot) => (spot.y > best.y ? spot : best));
  const ends = [column[0], column.at(-1)];
  return column.filter((spot) => spot === top || spot === bottom || ends.includes(spot));
}
