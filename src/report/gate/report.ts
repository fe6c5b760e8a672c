/** The page about a verdict of the gate: decision, reasons, the difference, and what flipped. */

import path from "node:path";
import { visible } from "../../core/visible.ts";
import { checkedLines } from "../../gate/checked-lines.ts";
import { changedText, conditionLines, showValue } from "../../gate/render.ts";
import type { Decision, GateReport, Reason } from "../../runs/gate-report.ts";
import { axesOfVerdict } from "../axes/verdict.ts";
import { type BusinessOptions, requireAlias } from "../business/business.ts";
import { businessSection } from "../business/section.ts";
import { failureComparison } from "../failures/rows/table.ts";
import { barTable } from "../page/bars.ts";
import { documentHtml, type Section } from "../page/document.ts";
import { ROW_STYLE } from "../page/extra-style.ts";
import { factList } from "../page/facts.ts";
import { figureTiles } from "../page/figure-tiles.ts";
import { groupHeading } from "../page/heading.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { many } from "../page/numbers.ts";
import { LEGEND, rowList } from "../page/row-list.ts";
import { nameRuns } from "../page/run-names.ts";
import { settingsSection } from "../page/settings.ts";
import { sentenceOf } from "../page/verification.ts";
import type { Report } from "../report-type.ts";
import { type ComparedRows, compareRows } from "./compare-rows.ts";
import { differenceCharts, verdictFigures } from "./difference.ts";
import { slicesOfVerdict } from "./slices.ts";

export interface VerdictReportOptions extends BusinessOptions {
  /** What `gate` returned, or wrote with `--report`. */
  readonly verdict: GateReport;
}

/**
 * One HTML page about a verdict of the gate. It reads the two runs for the rows that flipped.
 * @example
 * ```ts
 * import { gate, verdictReport } from "lockedroom";
 * const verdict = await gate({ baseline: "runs/baseline", candidate: "runs/candidate" });
 * const { html } = await verdictReport({ verdict });
 * console.log(verdict.decision, html.length);
 * ```
 */
export async function verdictReport({
  verdict,
  ...options
}: VerdictReportOptions): Promise<Report> {
  requireAlias(options);
  const rows = await compareRows(verdict, options);
  const [candidate, baseline] = shortNames(verdict);
  return {
    html: documentHtml({
      title: `Gate report: ${candidate} against ${baseline}`,
      heads: [head(verdict, rows)],
      sections: sectionsOf(verdict, rows),
      style: ROW_STYLE,
    }),
    runs: [{ name: `${candidate} against ${baseline}`, status: verdict.decision }],
  };
}

/** A run may be compared with itself. */
function shortNames({ candidate, baseline }: GateReport): string[] {
  const dirs = [candidate.run, baseline.run];
  if (candidate.run === baseline.run) return dirs.map((dir) => visible(path.basename(dir)));
  return nameRuns(dirs.map((dir) => ({ dir }))).map(({ name }) => name);
}

const STATES: Record<Decision, { readonly look: string; readonly sentence: string }> = {
  PROMOTE: { look: "finished", sentence: "The candidate may replace the baseline." },
  PASS: { look: "finished", sentence: "The candidate does not lose more than the margin." },
  REJECT: { look: "alarm", sentence: "The candidate may not replace the baseline." },
  INCONCLUSIVE: { look: "early", sentence: "The rows do not decide it either way." },
};

function head(verdict: GateReport, rows: ComparedRows | string): Html {
  const { decision, comparable, claim } = verdict;
  // The margin has a tile of its own.
  const { margin: _, ...conditions } = verdict;
  const remarks = [...conditionLines(conditions), ...checkedLines(verdict)];
  const { look, sentence } = STATES[decision];
  const warnings = typeof rows === "string" ? [] : rows.warnings;
  return html`<article class="run">
<p class="verdict ${look}"><strong>${decision}.</strong> ${comparable ? sentence : "The runs are not comparable."}</p>
${warnings.map((text) => html`<p class="verdict alarm"><strong>Warning.</strong> ${text}</p>\n`)}<div class="body">
<div>${figureTiles(verdictFigures(verdict))}${remarks.map((line) => html`<p>${visible(sentenceOf(line))}</p>\n`)}</div>
${factList([
  ["baseline", codeHtml(verdict.baseline.run)],
  ["candidate", codeHtml(verdict.candidate.run)],
  ["changed", changedText(verdict)],
  claim === null ? undefined : ["claim", claim],
])}</div>
</article>
`;
}

function sectionsOf(verdict: GateReport, rows: ComparedRows | string): Section[] {
  const sections: (Section | undefined)[] = [
    { id: "reasons", title: "Reasons", body: reasonsList(verdict) },
    { id: "difference", title: "Difference", body: differenceCharts(verdict, rows) },
    slicesOfVerdict(verdict),
    axesOfVerdict(verdict),
    failuresOfVerdict(rows),
    { id: "flips", title: "Flips", body: flipsBody(verdict, rows) },
    movesSection(verdict, rows),
    typeof rows === "string" ? undefined : businessSection(bothNamed(rows)),
    typeof rows === "string"
      ? undefined
      : { id: "settings", title: "Settings", body: bothSettings(rows) },
    { id: "json", title: "Verdict", body: verdictJson(verdict) },
  ];
  return sections.filter((section) => section !== undefined);
}

/** Of two evaluations. */
function failuresOfVerdict(rows: ComparedRows | string): Section | undefined {
  if (typeof rows === "string" || !rows.isText) return undefined;
  const [before, after] = rows.modes;
  const body = failureComparison(before.findings(), after.findings());
  return { id: "failure-table", title: "Failure table", body };
}

function reasonsList({ reasons, notes }: GateReport): Html {
  return html`<ul class="reasons">
${reasons.map(reasonItem)}</ul>
${
  notes.length > 0 &&
  html`<h3>Notes</h3>
<ul class="notes">
${notes.map((note) => html`<li>${visible(note)}</li>\n`)}</ul>
`
}`;
}

function reasonItem({ code, message, baseline, candidate }: Reason): Html {
  const hasValues = baseline !== null || candidate !== null;
  const values =
    hasValues &&
    html`<dl class="facts"><div><dt>baseline</dt><dd>${showValue(baseline)}</dd></div><div><dt>candidate</dt><dd>${showValue(candidate)}</dd></div></dl>`;
  return html`<li><p><strong>${visible(code)}</strong></p>
<p>${visible(message)}</p>${values}</li>
`;
}

/** Losses first: they are what a mean hides. */
const DIRECTIONS = ["lost", "gained"] as const;
const WORDS = { lost: "Lost", gained: "Gained" } as const;

function flipsBody(verdict: GateReport, rows: ComparedRows | string): Html {
  if (!verdict.comparable)
    return html`<p>The runs are not comparable, so their rows are not compared.</p>\n`;
  if (typeof rows === "string")
    return html`<p>The rows cannot be shown: ${visible(rows)}.</p>\n${flipTable(verdict)}`;
  const groups = rows.flips.all;
  if (groups.length === 0) return html`<p>No row flipped.</p>\n`;
  const parts = DIRECTIONS.map((direction) => {
    const group = groups.find(({ name }) => name === direction) ?? { count: 0, rows: [] };
    return html`${groupHeading(3, WORDS[direction], many(group.count, "row"))}${group.count === 0 ? html`<p>None.</p>\n` : rowList(group)}`;
  });
  return html`${LEGEND}${parts}`;
}

/** What the verdict itself holds of the flips. */
function flipTable({ flips }: GateReport): Html | undefined {
  if (!flips || flips.first.length === 0) return undefined;
  const rows = flips.first.map(
    ({ id, baseline, candidate, change }) =>
      html`<tr><th scope="row">${codeHtml(id)}</th><td>${change > 0 ? "gained" : "lost"}</td><td>${codeHtml(baseline)}</td><td>${codeHtml(candidate)}</td></tr>\n`,
  );
  return html`<p>${many(flips.gained, "row")} gained, ${many(flips.lost, "row")} lost; the first of them:</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">id</th><th scope="col">change</th><th scope="col">baseline</th><th scope="col">candidate</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

const MOVES_SHOWN = 20;

function movesSection(
  { comparable }: GateReport,
  rows: ComparedRows | string,
): Section | undefined {
  if (!comparable || typeof rows === "string" || rows.moves.length === 0) return undefined;
  const counted = rows.moves.slice(0, MOVES_SHOWN).map(({ from, to, count }) => ({
    label: html`${codeHtml(from)} → ${codeHtml(to)}`,
    counts: [count],
  }));
  const body = barTable("outcome code", ["rows"], [rows.pairs], counted);
  return { id: "moves", title: "Outcomes that moved", body };
}

function bothSettings({ manifests }: ComparedRows): Html {
  const [baseline = {}, candidate = {}] = manifests;
  return settingsSection([
    { name: "baseline", run: { manifestJson: baseline } },
    { name: "candidate", run: { manifestJson: candidate } },
  ]);
}

function bothNamed({ business }: ComparedRows) {
  return business.map((one, i) => ({
    name: i === 0 ? "baseline" : "candidate",
    run: { business: one },
  }));
}

function verdictJson(verdict: GateReport): Html {
  const lines = JSON.stringify(verdict, null, 2).split("\n");
  return html`<details><summary>Verdict as JSON</summary>
<pre>${lines.map((line) => `${visible(line)}\n`)}</pre></details>
`;
}
