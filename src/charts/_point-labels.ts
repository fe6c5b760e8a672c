/** Labels beside points, each at the nearest free place; a label without a free place is left out. */

import { lookOf } from "./_look.ts";
import type { Painter } from "./_paint.ts";
import { runsOf, type Spot, thin } from "./_path.ts";
import type { Plot } from "./_plot.ts";
import { isInside, markedSpots, spotOf } from "./_series.ts";
import { group } from "./_svg.ts";
import { ellipsize, lines, NOTE, textWidth } from "./_text.ts";
import type { Series } from "./spec.ts";

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Placed extends Box {
  readonly text: string;
  readonly anchor: "end" | "middle" | undefined;
}

interface Occupied {
  readonly markers: readonly Box[];
  readonly segments: readonly (readonly [Spot, Spot])[];
}

export function drawPointLabels(series: readonly Series[], plot: Plot, { paint }: Painter): string {
  const groups = labelGroups(series, plot);
  if (groups.length === 0) return "";
  const taken = occupiedBy(series, plot);
  const placed: Placed[] = [];
  for (const labels of groups) {
    const free = placesFor(labels, plot).find(
      (place) => !placed.some((box) => touch(place, box)) && isFree(place, taken),
    );
    if (free) placed.push(free);
  }
  if (placed.length === 0) return "";
  // A background-coloured outline separates the text from gridlines and bands.
  return group(
    {
      ...paint({ fill: "ink", stroke: "paper" }),
      ...{ "font-size": NOTE.size, "stroke-width": 3, "stroke-linejoin": "round" },
      "paint-order": "stroke",
    },
    ...placed.map(({ text, anchor, left, right, top, bottom }) => {
      const x = anchor === "end" ? right : anchor === "middle" ? (left + right) / 2 : left;
      return lines([text], x, (top + bottom) / 2 + NOTE.size * 0.36, NOTE, anchor);
    }),
  );
}

/** Points whose markers overlap share a label. */
interface LabelGroup extends Spot {
  readonly texts: Set<string>;
}

/** Markers closer than this overlap. */
const SAME_PLACE = 8;
const WIDEST = 140;

function labelGroups(series: readonly Series[], plot: Plot): LabelGroup[] {
  const groups: LabelGroup[] = [];
  for (const { points } of series) {
    for (const point of points) {
      const spot = spotOf(point, plot);
      if (spot === undefined || spot.label === "" || !isInside(spot, plot)) continue;
      const known = groups.find(({ x, y }) => Math.hypot(x - spot.x, y - spot.y) < SAME_PLACE);
      if (known) known.texts.add(spot.label);
      else groups.push({ x: spot.x, y: spot.y, texts: new Set([spot.label]) });
    }
  }
  return groups;
}

const MARKER = 5.5;

/** What labels must not cover. */
function occupiedBy(series: readonly Series[], plot: Plot): Occupied {
  const looks = series.map((one, place) => ({ one, look: lookOf(one, place) }));
  const markers = looks
    .flatMap(({ one, look }) => markedSpots(one, look, plot))
    .map((spot) => boxAround(spot, MARKER, MARKER));
  const segments = looks
    .filter(({ look }) => look.line !== "none")
    .flatMap(({ one }) => runsOf(one.points, (point) => spotOf(point, plot)))
    .flatMap((run) => {
      const spots = thin(run);
      return spots.slice(1).map((spot, i): [Spot, Spot] => [spots[i] ?? spot, spot]);
    });
  return { markers, segments };
}

/** Right, left, above, below, then between them; first close by, then a little further off. */
const SIDES: readonly Spot[] = [
  { x: 1, y: 0 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
  { x: 0, y: 1 },
  { x: 1, y: 1 },
  { x: -1, y: -1 },
  { x: 1, y: -1 },
  { x: -1, y: 1 },
];
const DISTANCES = [8, 13, 18];
const HALF_HEIGHT = NOTE.size / 2;

function placesFor({ x, y, texts }: LabelGroup, plot: Plot): Placed[] {
  const text = ellipsize([...texts].join(", "), WIDEST, NOTE);
  const half = textWidth(text, NOTE) / 2;
  return DISTANCES.flatMap((distance) =>
    SIDES.map(({ x: across, y: down }) => {
      // Diagonal steps are shorter, so that the distance is the same.
      const step = across !== 0 && down !== 0 ? distance * 0.7 : distance;
      const beside = { x: x + across * (step + half), y: y + down * (step + HALF_HEIGHT) };
      const middle = within(beside, half, plot);
      const anchor = across === 0 ? "middle" : across < 0 ? "end" : undefined;
      return { ...boxAround(middle, half, HALF_HEIGHT), text, anchor } as const;
    }),
  );
}

const boxAround = ({ x, y }: Spot, across: number, down: number): Box => ({
  ...{ left: x - across, right: x + across },
  ...{ top: y - down, bottom: y + down },
});

/** Pushed back into the plot where it would reach past the frame. */
function within({ x, y }: Spot, half: number, plot: Plot): Spot {
  const between = (value: number, low: number, high: number) =>
    Math.max(low, Math.min(high, value));
  return {
    x: between(x, plot.left + half + 3, plot.left + plot.width - half),
    y: between(y, plot.top + HALF_HEIGHT, plot.top + plot.height - HALF_HEIGHT - 2),
  };
}

const isFree = (box: Box, { markers, segments }: Occupied): boolean =>
  !markers.some((marker) => touch(box, marker)) &&
  !segments.some(([from, to]) => crosses(from, to, box));

const GAP = 1.5;

const touch = (a: Box, b: Box): boolean =>
  a.left < b.right + GAP &&
  b.left < a.right + GAP &&
  a.top < b.bottom + GAP &&
  b.top < a.bottom + GAP;

/** Liang and Barsky's clipping: what of the segment is left inside the box and its gap. */
function crosses(from: Spot, to: Spot, box: Box): boolean {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  let [enter, leave] = [0, 1];
  const sides = [
    [-dx, from.x - box.left + GAP],
    [dx, box.right + GAP - from.x],
    [-dy, from.y - box.top + GAP],
    [dy, box.bottom + GAP - from.y],
  ] as const;
  for (const [towards, room] of sides) {
    if (towards === 0 && room < 0) return false;
    if (towards < 0) enter = Math.max(enter, room / towards);
    if (towards > 0) leave = Math.min(leave, room / towards);
  }
  return enter <= leave;
}
