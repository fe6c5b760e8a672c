/**
 * How the gate writes numbers and names: signs, levels, p-values, tests, cells of tables, and how large
 * and how certain a difference is.
 */

import { visible } from "../core/visible.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { Measured } from "./measured.ts";

/** Below this a p-value is given as a bound; resampling does not reach further anyway. */
const SMALLEST_P = 0.0001;

/** "p = 0.012", or "p < 0.0001" for a value that would be printed as 0. */
export function pText(p: number, digits = 2): string {
  return p < SMALLEST_P ? `p < ${SMALLEST_P}` : `p = ${Number(p.toPrecision(digits))}`;
}

/** The same for a column of p-values: "0.012", or "< 0.0001". */
export function pCell(p: number): string {
  return pText(p).replace(/^p (= )?/, "");
}

/** A level as people write it: 0.05 / 3 is 0.0167. */
export function shownLevel(level: number): number {
  return Number(level.toPrecision(3));
}

export function signed(value: number, digits = 4): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(digits)}`;
}

/** "95 % interval" for a confidence of 0.95. */
export function intervalName(confidence: number): string {
  return `${Number((100 * confidence).toFixed(2))} % interval`;
}

export const TEST_NAMES: Record<NonNullable<GateReport["test"]>, string> = {
  mcnemar_exact: "exact McNemar",
  betting: "betting test of a bounded mean",
  cluster_betting: "betting test of a bounded mean, whole prompts",
  sign_flip: "sign-flip permutation test",
  cluster_sign_flip: "sign-flip permutation test of whole prompts",
};

/** Whether prompts repeat, so that whole prompts were tested. */
export function isClustered(test: GateReport["test"]): boolean {
  return test === "cluster_betting" || test === "cluster_sign_flip";
}

/** Whether mean rewards were compared; rewards of 0 and 1 have the pass rate as their mean, and of a judge it counts. */
export function isGraded({
  test,
  baseline,
  candidate,
  judge,
}: Pick<GateReport, "test" | "baseline" | "candidate" | "judge">): boolean {
  if (test === "mcnemar_exact" || judge) return false;
  if (test === "betting" || test === "sign_flip") return true;
  return [baseline, candidate].some(({ pass_rate, mean_reward }) => pass_rate !== mean_reward);
}

/** What was found about a slice or an axis. */
export const SLICE_STATES: Record<SliceState | AxisState, string> = {
  unchanged: "nothing changed",
  better: "better",
  loss_ruled_out: "loss ruled out",
  worse: "worse",
  worse_within_margin: "worse within margin",
  loss_not_ruled_out: "loss not ruled out",
  not_significant: "not significant",
};
type AxisState = NonNullable<GateReport["axes"]>["values"][number]["state"];
type SliceState = NonNullable<GateReport["slices"]>["values"][number]["state"];

interface Size {
  readonly n: number;
  readonly prompts?: number | undefined;
}

/** "240 rows"; where prompts repeat, "60 prompts, 240 rows", because prompts are what is tested. */
export function sizeText({ n, prompts }: Size): string {
  return prompts === undefined ? `${n} rows` : `${prompts} prompts, ${n} rows`;
}

/** The same for a column of rows. */
export function sizeCell({ n, prompts }: Size): string {
  return prompts === undefined ? String(n) : `${n} (${prompts} prompts)`;
}

/** What a number of examples to decide counts. */
export function unitsText(values: readonly Size[]): string {
  return values.some(({ prompts }) => prompts !== undefined) ? "different prompts" : "examples";
}

/** Three decimals, and more where they would be 0. */
export function effectText(effect: number): string {
  return effect < 0.0005 ? effect.toPrecision(1) : effect.toFixed(3);
}

/** Any text as a cell of a Markdown table. */
export function markdownCell(text: string): string {
  return visible(text).replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("`", "'");
}

/** "one-sided p = 0.012"; null where it is above one half or unknown. */
export function oneSided(p: number | null | undefined): string {
  return `one-sided ${typeof p === "number" ? pText(p) : "p > 0.5"}`;
}

/** The difference with its interval. */
export function differenceOf({ delta, ci }: Pick<Measured, "delta" | "ci">): string {
  if (delta === null || ci === null) return "not measured";
  return `${signed(delta)} (${intervalName(ci.confidence)} ${signed(ci.low)} to ${signed(ci.high)})`;
}

/** The difference with its interval and p-value. */
export function figuresOf({ delta, ci, p_value: p }: Measured): string {
  if (delta === null || ci === null || p === null) return "nothing was measured";
  return `${signed(delta)} (${intervalName(ci.confidence)} ${signed(ci.low)} to ${signed(ci.high)}, ${pText(p)})`;
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
