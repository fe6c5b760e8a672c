/** From values to positions along an axis. */

import { formatTicks, linearTicks, logTicks, multiple, niceStep, type Ticks } from "./_ticks.ts";
import type { Axis } from "./spec.ts";

export interface Scale {
  readonly axis: Axis;
  readonly low: number;
  readonly high: number;
  /** 0 at the low end and 1 at the high end; beyond them outside. */
  place(value: number): number;
  /** Whether the value has a position: not zero on a log axis, and never NaN. */
  has(value: Value): value is number;
  shows(value: number): boolean;
}

type Value = number | null | undefined;

/** Beyond these, differences overflow. */
const LARGEST = 1e100;
const SMALLEST_LOG = 1e-100;
/** Of the length of the axis, so that the first and last points do not touch the frame. */
const PADDING = 0.02;

/**
 * A scale that contains the values. Ends without a fixed range get some padding, or, with
 * `roundTo`, extend to the next of about that many ticks.
 */
export function makeScale(axis: Axis, values: readonly Value[], roundTo?: number): Scale {
  checkRange(axis);
  const isLog = axis.scale === "log";
  const transform = isLog ? Math.log10 : (value: number) => value;
  const has = (value: Value): value is number =>
    typeof value === "number" && (isLog ? value >= SMALLEST_LOG : true) && isWithin(value);
  const [from, to] = widen(axis, ends(axis, extent(values, has), transform), roundTo);
  const place = (value: number) => (transform(value) - from) / (to - from);
  const invert = isLog ? (value: number) => 10 ** value : (value: number) => value;
  const [low, high] = [axis.range?.[0] ?? invert(from), axis.range?.[1] ?? invert(to)];
  const shows = (value: number) => has(value) && isBetween(place(value));
  return { axis, low, high, place, has, shows };
}

const isWithin = (value: number) => Math.abs(value) <= LARGEST;
const isBetween = (place: number) => place >= -1e-9 && place <= 1 + 1e-9;

function checkRange({ label, range = [undefined, undefined], scale }: Axis): void {
  const [low, high] = range;
  for (const end of range) {
    if (end === undefined) continue;
    if (!isWithin(end))
      throw new RangeError(`the range of "${label}" must be finite, found ${end}`);
    if (scale === "log" && end < SMALLEST_LOG) {
      throw new RangeError(`the range of "${label}" must be above 0 on a log axis, found ${end}`);
    }
  }
  if (low !== undefined && high !== undefined && !(low < high)) {
    throw new RangeError(`the range of "${label}" must rise, found ${low} to ${high}`);
  }
}

function extent(values: readonly Value[], has: Scale["has"]): [number, number] | undefined {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!has(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : undefined;
}

/** The two ends on the transformed axis, fixed or from the data, never equal. */
function ends(
  { range, scale }: Axis,
  data: [number, number] | undefined,
  transform: (value: number) => number,
): [number, number] {
  const [pinLow, pinHigh] = (range ?? []).map((end) => (end === undefined ? end : transform(end)));
  const low = pinLow ?? (data ? transform(data[0]) : (pinHigh ?? 1) - 1);
  const high = pinHigh ?? (data ? transform(data[1]) : low + 1);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > size * 1e-9) return [low, high];
  const padding = scale === "log" || size === 0 ? 1 : size / 2;
  if (pinLow !== undefined) return [low, low + padding];
  if (pinHigh !== undefined) return [high - padding, high];
  return size === 0 && scale !== "log" ? [0, 1] : [low - padding, high + padding];
}

function widen(axis: Axis, [low, high]: [number, number], roundTo?: number): [number, number] {
  const [pinLow, pinHigh] = axis.range ?? [];
  const isRounded = roundTo !== undefined && axis.scale !== "log";
  const step = niceStep(high - low, roundTo ?? 1, axis.integer);
  const padding = (high - low) * PADDING;
  const wideLow = isRounded ? multiple(Math.floor(low / step + 1e-9), step) : low - padding;
  const wideHigh = isRounded ? multiple(Math.ceil(high / step - 1e-9), step) : high + padding;
  return [pinLow === undefined ? wideLow : low, pinHigh === undefined ? wideHigh : high];
}

export interface LabelledTicks extends Ticks {
  readonly labels: readonly string[];
}

/** The axis's own names or ticks where it has them, otherwise at most about `most`. */
export function ticksOf({ axis, low, high, shows }: Scale, most: number): LabelledTicks {
  const named = (axis.names ?? []).map((name, at) => ({ name, at })).filter(({ at }) => shows(at));
  if (named.length > 0)
    return {
      major: named.map(({ at }) => at),
      minor: [],
      labels: named.map(({ name }) => name),
    };
  const isLog = axis.scale === "log";
  const ticks: Ticks = axis.ticks
    ? { major: axis.ticks.filter(shows), minor: [] }
    : isLog
      ? logTicks(low, high, most)
      : linearTicks(low, high, most, axis.integer);
  return { ...ticks, labels: formatTicks(ticks.major, !isLog && axis.ticks === undefined) };
}

export function axisTitle({ label, unit }: Axis): string {
  return unit === undefined || unit === "" ? label : `${label} (${unit})`;
}
