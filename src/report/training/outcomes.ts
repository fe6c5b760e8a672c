/** Outcome codes over time as stacked shares, the most common code at the bottom. */

import type { Point, Series } from "../../charts/spec.ts";
import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { figure } from "../page/chart-figure.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { percent } from "../page/numbers.ts";
import type { NamedRun } from "./run-names.ts";
import { binSize, chunks, mean } from "./series.ts";

/** Counts at a step. */
export interface Outcomes {
  readonly step: number;
  readonly counts: Readonly<Record<string, number>>;
}

export function outcomesSection(runs: readonly NamedRun[]): Html {
  const chartsOf = (what: string, read: (run: TrainingRunRecords) => Outcomes[]) =>
    runs.map(({ name: title, run }) => ({
      title: runs.length === 1 ? what : `${what}: ${title}`,
      rows: read(run),
    }));
  const charts = [
    ...chartsOf("Validation", outcomesOfEvaluations),
    ...chartsOf("Training", outcomesOfSteps),
  ];
  // The same order in every chart, so that a colour always means the same code.
  const codes = byFrequency(charts.flatMap(({ rows }) => rows));
  const figures = charts.map(({ title, rows }) => stackFigure(title, rows, codes));
  return html`<div class="charts">\n${figures}</div>\n`;
}

export function outcomesOfEvaluations({ evaluations }: TrainingRunRecords): Outcomes[] {
  return evaluations.map(({ step, outcomes }) => ({ step, counts: outcomes }));
}

export function outcomesOfSteps({ steps }: TrainingRunRecords): Outcomes[] {
  return steps.flatMap(({ step, outcomes }) => (outcomes ? [{ step, counts: outcomes }] : []));
}

export function hasOutcomes({ evaluations, steps }: TrainingRunRecords): boolean {
  return [...evaluations, ...steps].some(({ outcomes }) => Object.keys(outcomes ?? {}).length > 0);
}

const MAX_BINS = 40;
const OTHER = "other";
/** The palette has six colours; the last is for the other codes. */
const MAX_CODES = 5;

function stackFigure(
  title: string,
  all: readonly Outcomes[],
  codes: readonly string[],
): Html | undefined {
  const rows = all.filter(({ counts }) => sum(Object.values(counts)) > 0);
  const size = binSize(rows.length, MAX_BINS);
  const bins = chunks(rows, size).map(together);
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const spec = {
    title,
    subtitle: size > 1 ? `${size} steps per point` : "",
    x: { label: "step", integer: true },
    y: { label: "share", range: [0, 1] as const },
    series: stacked(bins, codes.slice(0, codes.length > MAX_CODES + 1 ? MAX_CODES : undefined)),
  };
  const lines = codes.map((code) => {
    const [start, end] = [shareOf(first, code), shareOf(last, code)];
    return html`<tr><th scope="row">${codeHtml(code)}</th><td>${percent(start)}</td><td>${percent(end)}</td></tr>`;
  });
  const table = html`<table><thead><tr><th scope="col">code</th><th scope="col">start</th>
<th scope="col">end</th></tr></thead><tbody>${lines}</tbody></table>`;
  return figure(spec, table, "chart stacked");
}

/** Each code is a band on top of the previous ones. */
function stacked(bins: readonly Outcomes[], codes: readonly string[]): Series[] {
  const floors = bins.map(() => 0);
  const layer = (label: string, share: (bin: Outcomes, floor: number) => number): Series => {
    const points = bins.map((bin, i): Point => {
      const low = floors[i] ?? 0;
      const high = Math.min(1, low + share(bin, low));
      floors[i] = high;
      return { x: bin.step, y: high, low, high };
    });
    return { label, points, line: "solid", markers: "none" };
  };
  const layers = codes.map((code) => layer(visible(code), (bin) => shareOf(bin, code)));
  const isWhole = floors.every((floor) => floor > 1 - 1e-9);
  return isWhole ? layers : [...layers, layer(OTHER, (_, floor) => 1 - floor)];
}

function together(bin: readonly Outcomes[]): Outcomes {
  return { step: mean(bin.map(({ step }) => step)), counts: sumCounts(bin) };
}

export function sumCounts(rows: readonly Outcomes[]): Record<string, number> {
  const counts: Record<string, number> = Object.create(null);
  for (const row of rows) {
    for (const [code, count] of Object.entries(row.counts))
      counts[code] = (counts[code] ?? 0) + count;
  }
  return counts;
}

function byFrequency(rows: readonly Outcomes[]): string[] {
  const total = Object.entries(sumCounts(rows));
  return total.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([code]) => code);
}

function shareOf({ counts }: Outcomes, code: string): number {
  return (counts[code] ?? 0) / sum(Object.values(counts));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
