/** The gate's report as Markdown, and what all formats say alike. */

import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import { checkedLines } from "./checked-lines.ts";
import {
  markdownCell as cell,
  effectText,
  intervalName,
  oneSided,
  pCell,
  pText,
  SLICE_STATES,
  shownLevel,
  sizeCell,
} from "./words.ts";

/**
 * The report as Markdown, for a pull request or a step summary.
 * @example
 * ```ts
 * import { gate, gateMarkdown } from "lockedroom";
 * console.log(gateMarkdown(await gate({ baseline: "runs/baseline", candidate: "runs/candidate" })));
 * ```
 */
export function gateMarkdown(report: GateReport): string {
  const { baseline, candidate } = report;
  return [
    `## Gate: ${report.decision}${report.comparable ? "" : " (not comparable)"}`,
    "",
    "| | baseline | candidate |",
    "|---|---|---|",
    `| run | \`${cell(baseline.run)}\` | \`${cell(candidate.run)}\` |`,
    `| pass rate | ${figure(baseline.pass_rate)} | ${figure(candidate.pass_rate)} |`,
    `| mean reward | ${figure(baseline.mean_reward)} | ${figure(candidate.mean_reward)} |`,
    `| scored | ${baseline.n_scored} | ${candidate.n_scored} |`,
    "",
    ...(report.comparable ? [measurement(report), ""] : []),
    ...conditionLines(report).flatMap((line) => [`**${line}**`, ""]),
    ...checkedLines(report).flatMap((line) => [cell(line), ""]),
    ...sliceMarkdown(report),
    ...axisMarkdown(report),
    `**Changed:** ${changedText(report)}`,
    "",
    ...reasonMarkdown(report.reasons),
    "",
    ...report.notes.map((note) => `- ${note}`),
    "",
  ].join("\n");
}

/** Columns for the values of both runs only where a reason has any. */
function reasonMarkdown(reasons: readonly Reason[]): string[] {
  const some = reasons.some(hasValues);
  const row = (...cells: string[]) => `| ${(some ? cells : cells.slice(0, 2)).join(" | ")} |`;
  const values = (r: Reason) =>
    hasValues(r) ? [cell(showValue(r.baseline)), cell(showValue(r.candidate))] : ["", ""];
  return [
    row("reason", "", "baseline", "candidate"),
    row("---", "---", "---", "---").replaceAll(" ", ""),
    ...reasons.map((r) => row(`\`${r.code}\``, cell(r.message), ...values(r))),
  ];
}

/** The knobs; of a claim of no regression, what differs by name. */
export function changedText({ changed, knobs }: GateReport): string {
  return (changed ?? knobs).join(", ") || "none";
}

/** Nothing changed and no reward did, so that there is nothing to test. */
export function isUnchanged({ reasons, flips }: GateReport): boolean {
  return (
    reasons.some(({ code }) => code === "nothing_changed") &&
    flips?.gained === 0 &&
    flips.lost === 0
  );
}

function measurement(report: GateReport): string {
  if (isUnchanged(report)) return "The runs have the same rewards.";
  return measuredText(report);
}

function measuredText({
  delta,
  ci,
  p_value: p,
  flips,
  minimum_detectable_effect: mde,
  alpha,
  seeds_tried: seeds,
}: GateReport): string {
  if (delta === null || ci === null || p === null) return "No example was scored in both runs.";
  return (
    `**Difference** ${figure(delta)} (${intervalName(ci.confidence)} ${figure(ci.low)} to ${figure(ci.high)}), ` +
    `${pText(p, 3)}, ${flips?.gained ?? 0} gained, ${flips?.lost ?? 0} lost, ` +
    `minimum detectable effect ${mde === null ? NO_EFFECT : effectText(mde)} (80 % power, α ${seeds ? shownLevel(seeds.level) : alpha}).`
  );
}

/** Where no minimum detectable effect is known. */
export const NO_EFFECT = "unknown: too few examples, or no reward varies";

/**
 * The conditions that the verdict rests on, each a line for every format: the margin, the range of
 * rewards, the level, the number of examples, and what the caller allowed.
 */
export function conditionLines(report: GateReport): string[] {
  const { seeds_tried: seeds, effective_examples: effective, repeated_prompts: repeated } = report;
  const { allowed = [], alpha } = report;
  return [
    ...(report.margin === undefined || isUnchanged(report) ? [] : [lossLine(report)]),
    ...(report.reward_range ? [rangeLine(report.reward_range)] : []),
    ...(seeds
      ? [
          `seeds tried: baseline ${seeds.baseline ?? "unknown"}, candidate ${seeds.candidate ?? "unknown"}; level ${shownLevel(seeds.level)} instead of ${alpha}`,
        ]
      : []),
    ...(effective === undefined
      ? []
      : [
          report.repeats === undefined
            ? `effective number of examples: ${Number(effective.toFixed(1))} of ${report.baseline.n_scored} (${repeated} repeat a prompt)`
            : `estimate: mean of ${report.repeats} samples for each example; tests and intervals are over ${Number(effective.toFixed(1))} examples, not ${report.baseline.n_scored} samples`,
        ]),
    ...(allowed.length > 0 ? [`allowed by the caller: ${allowed.join(", ")}`] : []),
  ];
}

/** What holds for the table of slices. */
export function sliceCaption({ margin, values }: NonNullable<GateReport["slices"]>): string {
  const asked =
    margin === undefined ? "" : `A loss of ${margin} or more must be ruled out in every slice. `;
  return `${asked}p-values are corrected for ${values.length} ${values.length === 1 ? "slice" : "slices"} (Holm).`;
}

export const INTERVALS_ALONE = "Intervals are not corrected.";

function sliceMarkdown({ slices }: GateReport): string[] {
  if (!slices) return [];
  return [
    `${sliceCaption(slices)} ${INTERVALS_ALONE}`,
    "",
    `| ${cell(slices.field)} | rows | baseline | candidate | difference | interval | p (Holm) | |`,
    "|---|---|---|---|---|---|---|---|",
    ...slices.values.map(
      (one) =>
        `| ${cell(one.value)} | ${sizeCell(one)} | ${figure(one.baseline)} | ${figure(one.candidate)} | ${figure(one.delta)} | ${one.ci ? `${figure(one.ci.low)} to ${figure(one.ci.high)}` : "–"} | ${pCell(one.p_holm)} | ${SLICE_STATES[one.state]} |`,
    ),
    "",
  ];
}

function axisMarkdown({ axes }: GateReport): string[] {
  if (!axes) return [];
  return [
    "| axis | margin | baseline | candidate | difference | interval | p (Holm) | |",
    "|---|---|---|---|---|---|---|---|",
    ...axes.values.map(
      (one) =>
        `| ${cell(one.name)} | ${one.margin} | ${figure(one.baseline)} | ${figure(one.candidate)} | ${figure(one.delta)} | ${one.ci ? `${figure(one.ci.low)} to ${figure(one.ci.high)}` : "–"} | ${pCell(one.p_holm)} | ${SLICE_STATES[one.state]} |`,
    ),
    "",
  ];
}

function lossLine(report: GateReport): string {
  const { margin, margin_p_value: p, seeds_tried: seeds, alpha } = report;
  const level = shownLevel((seeds?.level ?? alpha) / 2);
  const ofMargin = `margin ${margin}: ${oneSided(p)}, level ${level}`;
  return `${lossesRuledOut(report)} (${typeof report.loss_bound === "number" ? ofMargin : `margin ${margin}`})`;
}

/** Bounds below what four decimals show rule out any loss that matters. */
const SMALLEST_BOUND = 0.00005;

/** "losses of 0.0123 or more are ruled out"; `any loss` where the bound is 0. */
export function lossesRuledOut({ loss_bound: bound }: Pick<GateReport, "loss_bound">): string {
  if (typeof bound !== "number") return "no loss is ruled out";
  if (bound < SMALLEST_BOUND) return "any loss is ruled out";
  return `losses of ${bound.toFixed(4)} or more are ruled out`;
}

function rangeLine({ low, high, source }: NonNullable<GateReport["reward_range"]>): string {
  const words =
    source === "scorer"
      ? "declared by the scorer"
      : "stated with --reward-range, not by the scorer";
  return `range of rewards: ${low} to ${high}, ${words}`;
}

/** A value of a reason as text; fingerprints are shortened. */
export function showValue(value: Reason["baseline"]): string {
  if (value === null) return "not stated";
  if (isFields(value) && Array.isArray(value.first_ids) && typeof value.rows === "number")
    return rowsAndIds(value.rows, value.first_ids.map(String));
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 16)}…` : visibleShort(text, 64);
}

function rowsAndIds(rows: number, ids: readonly string[]): string {
  const shown = ids.map((id) => visibleShort(id, 24)).join(", ");
  return `${rows} ${rows === 1 ? "row" : "rows"}: ${shown}${rows > ids.length ? ", …" : ""}`;
}

/** Whether a reason is about a value that each run has. */
export function hasValues({ baseline, candidate }: Reason): boolean {
  return baseline !== null || candidate !== null;
}

/** Both sides of a reason in brackets; nothing where it has none. */
export function bothValues(reason: Reason): string {
  if (!hasValues(reason)) return "";
  return ` (baseline ${showValue(reason.baseline)}, candidate ${showValue(reason.candidate)})`;
}

function figure(value: number | null): string {
  return value === null ? "–" : value.toFixed(4);
}
