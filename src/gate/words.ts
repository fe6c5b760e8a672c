/** How the gate says numbers: signs, levels, p-values, and how large and how certain a difference is. */

import type { Measured } from "./measured.ts";

/** Below this a p-value is given as a bound; resampling does not reach further anyway. */
const SMALLEST_P = 0.0001;

/** "p = 0.012", or "p < 0.0001" for a value that would be printed as 0. */
export function pText(p: number, digits = 2): string {
  return p < SMALLEST_P ? `p < ${SMALLEST_P}` : `p = ${Number(p.toPrecision(digits))}`;
}

/** A level as people write it: 0.05 / 3 is 0.0167. */
export function shownLevel(level: number): number {
  return Number(level.toPrecision(3));
}

export function signed(value: number): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(4)}`;
}

/** The difference with its interval and p-value. */
export function figuresOf({ delta, ci, p_value: p }: Measured): string {
  if (delta === null || ci === null || p === null) return "nothing was measured";
  const percent = Number((100 * ci.confidence).toFixed(2));
  return `${signed(delta)} (${percent} % interval ${signed(ci.low)} to ${signed(ci.high)}, ${pText(p)})`;
}

/** Conventions, as differences of a pass rate and as p-values; docs/manual/11 lists them. */
const SIZES = [
  [0.01, "very small"],
  [0.05, "small"],
  [0.15, "medium"],
  [Number.POSITIVE_INFINITY, "large"],
] as const;
const CERTAINTIES = [
  [0.001, "very strong evidence"],
  [0.01, "strong evidence"],
  [0.05, "evidence"],
  [Number.POSITIVE_INFINITY, "weak evidence"],
] as const;

/** "a medium difference, strong evidence"; rewards that are not 0 or 1 have no common scale. */
export function strength({ delta, p_value: p, metric }: Measured): string {
  const certainty = CERTAINTIES.find(([limit]) => (p ?? 1) <= limit)?.[1] ?? "";
  if (metric !== "pass rate") return certainty;
  const size = SIZES.find(([limit]) => Math.abs(delta ?? 0) < limit)?.[1] ?? "";
  return `a ${size} difference, ${certainty}`;
}
