/** The rectangle that data is drawn in, with its axes. */

import type { Painter } from "./_paint.ts";
import { axisTitle, type LabelledTicks, type Scale } from "./_scale.ts";
import { element, group, px } from "./_svg.ts";
import { LABEL, lines, TICK, textWidth } from "./_text.ts";

export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly y: Scale;
}

export const atX = (plot: Plot, value: number): number =>
  plot.left + plot.x.place(value) * plot.width;

export const atY = (plot: Plot, value: number): number =>
  plot.top + (1 - plot.y.place(value)) * plot.height;

const TICK_LENGTH = 5;
const MINOR_LENGTH = 3;
/** From the frame to the labels of the ticks. */
export const TICK_GAP = 8;

export interface AxesParts {
  readonly plot: Plot;
  readonly xTicks: LabelledTicks;
  readonly yTicks: LabelledTicks;
  readonly xTitle: readonly string[];
  readonly yTitle: readonly string[];
  /** Where the first line of each title stands: below the ticks, and left of them. */
  readonly xTitleAt: number;
  readonly yTitleAt: number;
}

/** Gridlines, frame, ticks and titles, all below the data. */
export function drawAxes(parts: AxesParts, { paint }: Painter): string {
  const { plot, xTicks, yTicks } = parts;
  const bottom = plot.top + plot.height;
  const right = plot.left + plot.width;
  const xs = xTicks.major.map((tick) => atX(plot, tick));
  const ys = yTicks.major.map((tick) => atY(plot, tick));
  const grid = [
    ...ys.map((y) => `M${px(plot.left)} ${px(y)}H${px(right)}`),
    ...xs.map((x) => `M${px(x)} ${px(plot.top)}V${px(bottom)}`),
  ];
  const marks = [
    `M${px(plot.left)} ${px(plot.top)}V${px(bottom)}H${px(right)}`,
    ...ys.map((y) => `M${px(plot.left)} ${px(y)}h${-TICK_LENGTH}`),
    ...xs.map((x) => `M${px(x)} ${px(bottom)}v${TICK_LENGTH}`),
    ...yTicks.minor.map((tick) => `M${px(plot.left)} ${px(atY(plot, tick))}h${-MINOR_LENGTH}`),
    ...xTicks.minor.map((tick) => `M${px(atX(plot, tick))} ${px(bottom)}v${MINOR_LENGTH}`),
  ];
  return (
    element("path", { d: grid.join(""), ...paint({ stroke: "grid" }), "stroke-width": 1 }) +
    element("path", { d: marks.join(""), ...paint({ stroke: "muted" }), "stroke-width": 1 }) +
    group({ ...paint({ fill: "muted" }), "font-size": TICK.size }, tickLabels(parts, xs, ys)) +
    titles(parts, paint({ fill: "ink" }))
  );
}

function tickLabels({ plot, xTicks, yTicks }: AxesParts, xs: number[], ys: number[]): string {
  const baseline = plot.top + plot.height + TICK_GAP + TICK.size;
  const fitting = withoutOverlap(xs, xTicks.labels);
  const below = fitting.map(({ x, label }) => lines([label], x, baseline, TICK, "middle"));
  const beside = ys.map((y, i) =>
    lines([yTicks.labels[i] ?? ""], plot.left - TICK_GAP, y + TICK.size * 0.36, TICK, "end"),
  );
  return below.join("") + beside.join("");
}

/** From the left, without labels that would overlap the previous one. */
function withoutOverlap(xs: readonly number[], labels: readonly string[]) {
  let end = Number.NEGATIVE_INFINITY;
  return xs.flatMap((x, i) => {
    const label = labels[i] ?? "";
    const half = textWidth(label, TICK) / 2;
    if (x - half < end + TICK.size / 2) return [];
    end = x + half;
    return [{ x, label }];
  });
}

/** Whether all labels of the x axis fit without overlap. */
export function labelsFit(scale: Scale, ticks: LabelledTicks, width: number): boolean {
  const xs = ticks.major.map((tick) => scale.place(tick) * width);
  return withoutOverlap(xs, ticks.labels).length === ticks.labels.length;
}

function titles(parts: AxesParts, ink: ReturnType<Painter["paint"]>): string {
  const { plot, xTitle, yTitle, xTitleAt, yTitleAt } = parts;
  const across = plot.left + plot.width / 2;
  const down = plot.top + plot.height / 2;
  return group(
    { ...ink, "font-size": LABEL.size },
    lines(xTitle, across, xTitleAt, LABEL, "middle"),
    group(
      { transform: `translate(${px(yTitleAt)} ${px(down)}) rotate(-90)` },
      lines(yTitle, 0, 0, LABEL, "middle"),
    ),
  );
}

/** For `<desc>`: "reward, from 0 to 1". */
export function describeAxis({ axis, low, high }: Scale): string {
  const kind = axis.scale === "log" ? ", log scale" : "";
  const [first = short(low), last = short(high)] = [axis.names?.[0], axis.names?.at(-1)];
  return `${axisTitle(axis)}${kind}, from ${first} to ${last}`;
}

export const short = (value: number): string => String(Number(value.toPrecision(4)) + 0);
